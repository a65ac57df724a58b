"""config delete-context."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import default_file, entries, needs_help, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "Delete the specified context from the kubeconfig"
USAGE = "config delete-context NAME"
COMPLETION = "kubeconfig contexts"
FLAGS = ()


def run(context: Context) -> None:
    """Remove a context."""
    if len(context.args) != 1:
        raise needs_help(context)
    name, path = context.args[0], default_file(context)
    if name not in entries(context, "contexts"):
        raise CommandError(f"cannot delete context {name}, not in {path}")
    if context.config.get("current-context") == name:
        context.warn(
            'warning: this removed your active context, use "kubectl config use-context" to select a different one'
        )
    store(context, "contexts", name, None)
    context.out(f"deleted context {name} from {path}")
