"""A command that only has commands of its own."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import Exit


def group(*, code: int = 1, to_stdout: bool = False, any_word: bool = False) -> Callable[[Context], None]:
    """Return what such a command does without one of its commands: print its help, and end with ``code``.

    A word that is none of its commands is refused, unless ``any_word`` says that it gets the help as well.
    """

    def run(context: Context) -> None:
        if context.args and not any_word:
            raise context.usage(f'unknown command "{" ".join(context.args)}"')
        context.show_help(context.stdout if to_stdout else context.stderr)
        raise Exit(code)

    return run
