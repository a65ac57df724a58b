"""DefaultPreemption: makes room for a pod by evicting pods of lower priority."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, Action, Interest
from pybernetes.scheduling.cycle import Cycle
from pybernetes.scheduling.diagnosis import Diagnosis
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.plugin import Outcome, PostFilterPlugin
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.preemption import Preemption


class DefaultPreemption(PostFilterPlugin):
    """Says who is to be evicted; the scheduler evicts them."""

    name = "DefaultPreemption"
    points = ("postFilter", "preEnqueue")

    @classmethod
    def default_arguments(cls, given: Object) -> Object:
        return {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100, **given}

    @classmethod
    def check_arguments(cls, arguments: Object, path: Path, errors: Errors) -> None:
        percentage = arguments.get("minCandidateNodesPercentage", 10)
        absolute = arguments.get("minCandidateNodesAbsolute", 100)
        where, other = path / "minCandidateNodesPercentage", path / "minCandidateNodesAbsolute"
        if not 0 <= percentage <= 100:
            errors.invalid(where, percentage, "not in valid range [0, 100]")
        if absolute < 0:
            errors.invalid(other, absolute, "not in valid range [0, inf)")
        if percentage == 0 and absolute == 0:
            errors.invalid(where, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute")
            errors.invalid(other, absolute, "cannot be zero at the same time as minCandidateNodesPercentage")

    def __init__(self, handle: Handle, arguments: Object) -> None:
        super().__init__(handle, arguments)
        self._percentage = arguments["minCandidateNodesPercentage"]
        self._absolute = arguments["minCandidateNodesAbsolute"]
        self._preemption: Preemption | None = None

    def candidates(self, nodes: int) -> int:
        """Return how many nodes to find where eviction would help, of those where it might."""
        return min(nodes, max(nodes * self._percentage // 100, self._absolute))

    def post_filter(self, pod: Pod, diagnosis: Diagnosis, cycle: Cycle) -> Outcome | None:
        if self._preemption is None:
            self._preemption = Preemption(self.handle, cycle, self.candidates)
        return self._preemption.find(pod, diagnosis)

    def interests(self) -> Iterable[Interest]:
        return (Interest(ASSIGNED_POD, Action.DELETE, lambda pod, old, new: False),)


PLUGIN = DefaultPreemption
