"""config rename-context."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import needs_help, store_current
from pybernetes.tools.kubectl.config_changes import default_file, entries, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted

SUMMARY = "Rename a context from the kubeconfig file"
USAGE = "config rename-context CONTEXT_NAME NEW_NAME"
COMPLETION = "kubeconfig contexts"
FLAGS = ()


def run(context: Context) -> None:
    """Give a context another name."""
    if len(context.args) != 2:
        raise needs_help(context, f"Unexpected args: [{' '.join(context.args)}]")
    old, new = context.args
    known, path = entries(context, "contexts"), default_file(context)
    if old not in known:
        raise CommandError(f"cannot rename the context {quoted(old)}, it's not in {path}")
    if new in known:
        raise CommandError(
            f"cannot rename the context {quoted(old)}, the context {quoted(new)} already exists in {path}"
        )
    store(context, "contexts", new, known[old])
    store(context, "contexts", old, None)
    if context.config.get("current-context") == old:
        store_current(context, new)
    context.out(f"Context {quoted(old)} renamed to {quoted(new)}.")
