"""HighNodeUtilization: pods leave nodes that are nearly empty, so that fewer nodes are needed."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    INT,
    NAMESPACES,
    STRINGS,
    THRESHOLDS,
    arguments,
)
from pybernetes.control_plane.descheduler.node_usage import Amounts
from pybernetes.control_plane.descheduler.plugin import BALANCE, Decisions, StrategyPlugin
from pybernetes.control_plane.descheduler.plugins._node_utilization import (
    BASIC,
    Move,
    NodeState,
    Utilization,
    check_namespaces,
    check_thresholds,
)
from pybernetes.control_plane.descheduler.view import View

ONLY_THRESHOLDING = "OnlyThresholdingResources"


class HighNodeUtilization(StrategyPlugin):
    """Goes with a scheduler that prefers full nodes: pods of nodes below all ``thresholds`` go to any other node."""

    name = "HighNodeUtilization"
    points = (BALANCE,)
    arguments_type = arguments(
        "HighNodeUtilization", thresholds=THRESHOLDS, numberOfNodes=INT, evictionModes=STRINGS,
        evictableNamespaces=NAMESPACES,
    )  # fmt: skip

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        problem = check_namespaces(arguments) or check_thresholds(arguments.get("thresholds"))
        for mode in arguments.get("evictionModes") or ():
            if mode != ONLY_THRESHOLDING and not problem:
                problem = f"invalid eviction mode {mode}"
        return [problem] if problem else []

    def decide(self, view: View) -> Decisions:
        given, thresholds = self.arguments, self.arguments["thresholds"]
        utilization = Utilization(view, dict.fromkeys((*thresholds, *BASIC)))
        low = utilization.below(thresholds)
        others = view.nodes & ~low & ~view.snapshot.unschedulable[view.snapshot.all]
        count = int(low.sum())
        if (
            not count
            or count <= given.get("numberOfNodes", 0)
            or count == view.nodes.sum()
            or not others.any()
        ):
            return
        removable = view.evictable & view.table.running
        if ONLY_THRESHOLDING in (given.get("evictionModes") or ()):
            names = frozenset(thresholds)
            asks = (not record.requested.isdisjoint(names) for record in view.table.records)
            removable = removable & np.fromiter(asks, np.bool_, view.table.size)
        limits = dict.fromkeys(thresholds, 100.0)
        sources = utilization.states(low, limits)
        sources.sort(key=lambda node: (node.load, view.snapshot.names[node.row]))
        excluded = frozenset((given.get("evictableNamespaces") or {}).get("exclude") or ())
        yield from Move(
            utilization, sources, utilization.states(others, limits), _goes_on, removable, excluded
        ).decide()


def _goes_on(_node: NodeState, room: Amounts) -> bool:
    return all(left > 0 for left in room.values())


PLUGIN = HighNodeUtilization
