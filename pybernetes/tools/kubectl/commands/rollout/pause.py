"""rollout pause."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.rollout._change import flags, set_paused
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Mark the provided resource as paused"
USAGE = "rollout pause RESOURCE"
COMPLETION = "types deployment"
FLAGS = flags("kubectl-rollout")


def run(context: Context) -> None:
    """Pause deployments."""
    set_paused(context, True)
