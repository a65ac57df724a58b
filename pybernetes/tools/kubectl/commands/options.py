"""options: lists the flags of every command."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "Print the list of flags inherited by all commands"
USAGE = "options"
FLAGS = ()


def flag_error(message: str, _path: str) -> CommandError:
    """Return the error about a flag: this command has none."""
    return CommandError(f"{message}\nRun 'kubectl options' without flags.")


def run(context: Context) -> None:
    """Print the flags of every command."""
    from pybernetes.tools.kubectl.command_line.help import options

    options(context.stdout)
