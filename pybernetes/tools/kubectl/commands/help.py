"""help: explains a command."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Help about any command"
USAGE = "help [command]"
FLAGS = ()


def run(context: Context) -> int:
    """Print the help of the command that the arguments name, or the overview."""
    from pybernetes.tools.kubectl.command_line.flags import declare
    from pybernetes.tools.kubectl.command_line.help import overview, show
    from pybernetes.tools.kubectl.command_line.lookup import find

    if not context.args:
        overview(context.stdout)
        return 0
    command, path, _ = find(context.args, declare(shared_flags.GLOBAL))
    if command is None:
        context.warn(f"Unknown help topic [{' '.join(f'`{word}`' for word in context.args)}]\n\n")
        overview(context.stderr, heading=False)
        return 0
    return show(command, path, context.stdout)
