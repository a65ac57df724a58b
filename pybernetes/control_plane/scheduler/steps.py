"""What the scheduler did for a pod that has its node, step by step: for whoever wants to know where the time went."""

from __future__ import annotations

from pybernetes.api.steps import Step
from pybernetes.control_plane.scheduler.queue import Queued

QUEUE, FILTER, SCORE, BIND = "queue", "filter", "score", "bind"


def steps_of(queued: Queued, node: str, first: float, bound: float, now: float) -> list[Step]:
    """Return the steps of a pod that was bound at a moment of the monotonic clock, which is ``now`` since the epoch."""
    offset = now - bound
    nodes, feasible, scoring = queued.choice
    taken, decided = offset + queued.taken, offset + queued.decided
    tries = "" if queued.attempts == 1 else f"{queued.attempts} attempts"
    return [
        Step(QUEUE, offset + first, taken, tries),
        Step(FILTER, taken, decided - scoring, f"{feasible} of {nodes} nodes"),
        Step(SCORE, decided - scoring, decided),
        Step(BIND, decided, now, node),
    ]
