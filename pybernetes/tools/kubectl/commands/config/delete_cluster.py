"""config delete-cluster."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import default_file, entries, needs_help, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "Delete the specified cluster from the kubeconfig"
USAGE = "config delete-cluster NAME"
COMPLETION = "kubeconfig clusters"
FLAGS = ()


def run(context: Context) -> None:
    """Remove a cluster."""
    if len(context.args) != 1:
        raise needs_help(context)
    name, path = context.args[0], default_file(context)
    if name not in entries(context, "clusters"):
        raise CommandError(f"cannot delete cluster {name}, not in {path}")
    store(context, "clusters", name, None)
    context.out(f"deleted cluster {name} from {path}")
