"""config delete-user."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.config._file import default_file, entries, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "Delete the specified user from the kubeconfig"
USAGE = "config delete-user NAME"
COMPLETION = "kubeconfig users"
FLAGS = ()


def run(context: Context) -> None:
    """Remove a user."""
    if len(context.args) != 1:
        raise context.usage("user to delete is required")
    name, path = context.args[0], default_file(context)
    if name not in entries(context, "users"):
        raise CommandError(f"cannot delete user {name}, not in {path}")
    store(context, "users", name, None)
    context.out(f"deleted user {name} from {path}")
