"""config delete-context."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import delete, needs_help
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Delete the specified context from the kubeconfig"
USAGE = "config delete-context NAME"
COMPLETION = "kubeconfig contexts"
FLAGS = ()


def run(context: Context) -> None:
    """Remove a context."""
    if len(context.args) != 1:
        raise needs_help(context)
    delete(context, "contexts")
