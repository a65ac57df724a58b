"""config set-context."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import needs_help
from pybernetes.tools.kubectl.config_changes import entries, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted

SUMMARY = "Set a context entry in kubeconfig"
USAGE = "config set-context [NAME | --current] [--cluster=cluster_nickname] [--user=user_nickname] [--namespace=namespace]"
COMPLETION = "kubeconfig contexts"
FLAGS = ("- current bool false | change the current context\n",)


def run(context: Context) -> None:
    """Add a context, or change one."""
    flags = context.flags
    if len(context.args) > 1:
        raise needs_help(context, f"Unexpected args: [{' '.join(context.args)}]")
    name = context.args[0] if context.args else ""
    if flags.current and name:
        raise CommandError("you cannot specify both a context name and --current")
    if flags.current:
        name = context.config.get("current-context") or ""
        if not name:
            raise CommandError("no current context is set")
    if not name:
        raise CommandError("you must specify a non-empty context name or --current")
    known = entries(context, "contexts")
    value = dict(known.get(name) or {})
    for key in ("cluster", "user", "namespace"):
        if key in flags.changed:
            value[key] = getattr(flags, key)
            if not value[key]:
                del value[key]
    value.setdefault("cluster", "")
    value.setdefault("user", "")
    store(context, "contexts", name, value)
    context.out(f"Context {quoted(name)} {'modified' if name in known else 'created'}.")
