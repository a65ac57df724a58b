"""DefaultPreemption: makes room for a pod by evicting pods of lower priority."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, Action, Interest
from pybernetes.scheduling.plugin import Plugin
from pybernetes.scheduling.snapshot import Snapshot


class DefaultPreemption(Plugin):
    """Holds the arguments; ``preemption.py`` chooses victims and ``evictor.py`` evicts them."""

    name = "DefaultPreemption"
    points = ("postFilter", "preEnqueue")

    def __init__(self, snapshot: Snapshot, arguments: Object, listers: Any) -> None:
        super().__init__(snapshot, arguments, listers)
        self._percentage = arguments["minCandidateNodesPercentage"]
        self._absolute = arguments["minCandidateNodesAbsolute"]

    def candidates(self, nodes: int) -> int:
        """Return how many nodes to find where eviction would help, of those where it might."""
        return min(nodes, max(nodes * self._percentage // 100, self._absolute))

    def interests(self) -> Iterable[Interest]:
        return (Interest(ASSIGNED_POD, Action.DELETE, lambda pod, old, new: False),)


PLUGIN = DefaultPreemption
