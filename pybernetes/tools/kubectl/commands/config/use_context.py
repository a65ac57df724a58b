"""config use-context."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import needs_help, store_current
from pybernetes.tools.kubectl.config_changes import entries
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted

SUMMARY = "Set the current-context in a kubeconfig file"
USAGE = "config use-context CONTEXT_NAME"
COMPLETION = "kubeconfig contexts"
ALIASES = ("use",)
FLAGS = ()


def run(context: Context) -> None:
    """Make a context the current one."""
    if len(context.args) != 1:
        raise needs_help(context, f"Unexpected args: [{' '.join(context.args)}]")
    name = context.args[0]
    if not name:
        raise CommandError("empty context names are not allowed")
    if name not in entries(context, "contexts"):
        raise CommandError(f"no context exists with the name: {quoted(name)}")
    store_current(context, name)
    context.out(f"Switched to context {quoted(name)}.")
