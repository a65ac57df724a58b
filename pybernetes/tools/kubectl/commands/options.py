"""options: lists the flags of every command."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context

SUMMARY = "Print the list of flags inherited by all commands"
USAGE = "options"
FLAGS = ()


def run(context: Context) -> None:
    """Print the flags of every command."""
    from pybernetes.tools.kubectl.command_line.help import options

    options(context.stdout)
