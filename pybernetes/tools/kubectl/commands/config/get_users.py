"""config get-users."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import print_names
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Display users defined in the kubeconfig"
USAGE = "config get-users [flags]"
FLAGS = ()


def run(context: Context) -> None:
    """Print the names of the users."""
    print_names(context, "users")
