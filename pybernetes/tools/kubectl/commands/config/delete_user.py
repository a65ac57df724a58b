"""config delete-user."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import delete
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Delete the specified user from the kubeconfig"
USAGE = "config delete-user NAME"
COMPLETION = "kubeconfig users"
FLAGS = ()


def run(context: Context) -> None:
    """Remove a user."""
    if len(context.args) != 1:
        raise context.usage("user to delete is required")
    delete(context, "users")
