"""A verb that only has verbs of its own."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import Exit

# Where the original puts its help and how it ends differs from verb to verb.
_TO_STDOUT = ("rollout", "certificate")
_CODES = {"certificate": 0}


def run(context: Context) -> None:
    """Print the help of the group, or refuse a word that is none of its commands."""
    if context.args:
        raise context.usage(f'unknown command "{" ".join(context.args)}"')
    from importlib import import_module

    from pybernetes.tools.kubectl.help import show
    from pybernetes.tools.kubectl.main import _file

    words = context.path.split()[1:]
    show(
        import_module("pybernetes.tools.kubectl.commands." + ".".join(map(_file, words))),
        context.path,
        context.stdout if words[-1] in _TO_STDOUT else context.stderr,
    )
    raise Exit(_CODES.get(words[-1], 1))
