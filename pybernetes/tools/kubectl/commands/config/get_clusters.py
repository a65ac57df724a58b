"""config get-clusters."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import print_names
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Display clusters defined in the kubeconfig"
USAGE = "config get-clusters [flags]"
FLAGS = ()


def run(context: Context) -> None:
    """Print the names of the clusters."""
    print_names(context, "clusters")
