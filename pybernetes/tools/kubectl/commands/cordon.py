"""cordon: keeps new pods away from nodes."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._nodes import cordon, nodes
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import raise_all

SUMMARY = "Mark node as unschedulable"
USAGE = "cordon NODE"
COMPLETION = "names nodes"
FLAGS = (shared_flags.DRY_RUN, shared_flags.SELECTOR)


def run(context: Context) -> None:
    """Cordon nodes."""
    builder, infos = nodes(context, "cordon NODE")
    for info in infos:
        cordon(context, info, True)
    raise_all(builder.errors)
