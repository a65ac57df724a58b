"""cordon: keeps new pods away from nodes."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._nodes import cordon_all
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Mark node as unschedulable"
USAGE = "cordon NODE"
COMPLETION = "names nodes"
FLAGS = (shared_flags.DRY_RUN, shared_flags.SELECTOR)


def run(context: Context) -> None:
    """Cordon nodes."""
    cordon_all(context, "cordon NODE", True)
