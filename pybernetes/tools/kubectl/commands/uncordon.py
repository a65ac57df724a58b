"""uncordon: lets new pods onto nodes again."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._nodes import cordon, nodes
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import raise_all

SUMMARY = "Mark node as schedulable"
USAGE = "uncordon NODE"
COMPLETION = "names nodes"
FLAGS = (shared_flags.DRY_RUN, shared_flags.SELECTOR)


def run(context: Context) -> None:
    """Uncordon nodes."""
    builder, infos = nodes(context, "uncordon NODE")
    for info in infos:
        cordon(context, info, False)
    raise_all(builder.errors)
