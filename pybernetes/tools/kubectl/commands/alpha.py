"""alpha: commands for features that are not on by default. There are none in this version."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context

SUMMARY = "Commands for features in alpha"
USAGE = "alpha"
FLAGS = ()


def run(context: Context) -> None:
    """Say that there are none."""
    context.warn("No alpha commands are available in this version of kubectl")
