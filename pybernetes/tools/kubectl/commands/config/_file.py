"""What the commands of config share."""

from __future__ import annotations

import os

from pybernetes.client.kubeconfig_files import PLURALS
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.config_changes import changing, default_file, entries, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Exit
from pybernetes.tools.kubectl.kubeconfig.files import read

if TYPE_CHECKING:
    pass


def needs_help(context: Context, message: str = "") -> Exit:
    """Print the help of the command; with a message the exit code says that something was wrong."""
    context.show_help(context.stdout)
    if message:
        context.warn(f"error: {message}")
    return Exit(1 if message else 0)


def delete(context: Context, plural: str) -> None:
    """Remove the entry that the argument names, and say so."""
    name, path, kind = context.args[0], default_file(context), PLURALS[plural]
    if name not in entries(context, plural):
        raise CommandError(f"cannot delete {kind} {name}, not in {path}")
    if plural == "contexts" and context.config.get("current-context") == name:
        context.warn(
            'warning: this removed your active context, use "kubectl config use-context" to select a different one'
        )
    store(context, plural, name, None)
    context.out(f"deleted {kind} {name} from {path}")


def print_names(context: Context, plural: str) -> None:
    """Print the names of all entries."""
    names = sorted(entries(context, plural))
    context.out("NAME")
    for name in names:
        context.out(name)


def store_current(context: Context, name: str) -> None:
    """Make a context the current one, in the file that names it or in the first."""
    for path in context.config_files:
        last = path == context.config_files[-1]
        if os.path.exists(path) and (last or read(path).get("current-context")):
            break
    else:
        path = default_file(context)
    with changing(path) as content:
        content["current-context"] = name
