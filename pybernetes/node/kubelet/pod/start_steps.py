"""What the kubelet does for pods that start, step by step, until it is told with their next events.

Steps follow one another without gaps: what a pod was waiting for since its last step is the next one. Nothing is kept of
a pod that runs.
"""

from __future__ import annotations

from pybernetes.api import steps
from pybernetes.api.steps import Step
from pybernetes.lib.clock import Clock

# The time of a pod's start, in this order; ``image``, ``create`` and ``start`` for each of its containers.
PREPARE, VOLUMES, SANDBOX, NETWORK = "prepare", "volumes", "sandbox", "network"
WAIT, IMAGE, CREATE, START = "wait", "image", "create", "start"


class _Start:
    """A pod that starts: the time of the last step's end, and the steps that nobody was told of yet."""

    __slots__ = ("at", "sandbox", "untold")

    def __init__(self, at: float) -> None:
        self.at = at
        self.sandbox = False
        self.untold: list[Step] = []


class StartSteps:
    """The starting pods of a node, by uid."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._starts: dict[str, _Start] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def begin(self, uid: str) -> None:
        """Note that a pod is known from now on."""
        self._starts[uid] = _Start(self._clock.now())

    def reached(self, uid: str, name: str, detail: str = "", *, network: float | None = None) -> None:
        """Note that a step is done; it began with the end of the one before. ``network``: when its network was made."""
        start = self._starts.get(uid)
        if start is None:
            return
        now = self._clock.now()
        if name == PREPARE and start.sandbox:
            name = WAIT  # for init containers, or after a failure
        begin, start.at = min(start.at, now), now
        if network is not None and begin <= network <= now:
            start.untold.append(Step(NETWORK, begin, network))
            begin = network
        start.sandbox = start.sandbox or name == SANDBOX
        start.untold.append(Step(name, begin, now, detail))
        del start.untold[: -steps.MOST_STEPS]

    def annotations(self, uid: str) -> dict[str, str] | None:
        """Return what the next event about a pod tells of its steps; each is told once."""
        start = self._starts.get(uid)
        if start is None or not start.untold:
            return None
        told, start.untold = start.untold, []
        return {steps.ANNOTATION: steps.to_text(told)}

    def end(self, uid: str) -> None:
        """Forget a pod that runs, or is no more."""
        self._starts.pop(uid, None)
