"""config current-context."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "Display the current-context"
USAGE = "config current-context [flags]"
FLAGS = ()


def run(context: Context) -> None:
    """Print the name of the current context."""
    name = context.flags.context or context.config.get("current-context")
    if not name:
        raise CommandError("current-context is not set")
    context.out(name)
