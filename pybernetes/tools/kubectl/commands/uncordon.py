"""uncordon: lets new pods onto nodes again."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._nodes import cordon_all
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Mark node as schedulable"
USAGE = "uncordon NODE"
COMPLETION = "names nodes"
FLAGS = (shared_flags.DRY_RUN, shared_flags.SELECTOR)


def run(context: Context) -> None:
    """Uncordon nodes."""
    cordon_all(context, "uncordon NODE", False)
