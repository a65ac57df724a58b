"""A command that only has commands of its own."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import Exit


def group(*, code: int = 1, to_stdout: bool = False) -> Callable[[Context], None]:
    """Return what such a command does without one of its commands: print its help, and end with ``code``."""

    def run(context: Context) -> None:
        if context.args:
            raise context.usage(f'unknown command "{" ".join(context.args)}"')
        context.show_help(context.stdout if to_stdout else context.stderr)
        raise Exit(code)

    return run
