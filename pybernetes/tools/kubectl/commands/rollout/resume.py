"""rollout resume."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.rollout._change import flags, set_paused
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Resume a paused resource"
USAGE = "rollout resume RESOURCE"
COMPLETION = "types deployment"
FLAGS = flags("kubectl-rollout")


def run(context: Context) -> None:
    """Resume deployments."""
    set_paused(context, False)
