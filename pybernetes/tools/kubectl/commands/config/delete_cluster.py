"""config delete-cluster."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import delete, needs_help
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Delete the specified cluster from the kubeconfig"
USAGE = "config delete-cluster NAME"
COMPLETION = "kubeconfig clusters"
FLAGS = ()


def run(context: Context) -> None:
    """Remove a cluster."""
    if len(context.args) != 1:
        raise needs_help(context)
    delete(context, "clusters")
