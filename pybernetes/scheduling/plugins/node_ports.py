"""NodePorts: two pods cannot have the same port of a node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from pybernetes.scheduling.cluster_events import ASSIGNED_POD, NODE, Action, Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.plugin import FilterPlugin, Scope
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.snapshot import ANY_ADDRESS

REASON = "node(s) didn't have free ports for the requested pod ports"
Port = tuple[str, str, int]


class NodePorts(FilterPlugin):
    """A host address conflicts with itself and with the wildcard; the wildcard conflicts with every address."""

    name = "NodePorts"
    points = ("preFilter", "filter")
    filter_scope = Scope.NODE

    def filter_key(self, pod: Pod) -> Hashable | None:
        return pod.shape.ports or None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        taken = np.zeros(len(self.snapshot.valid[rows]), dtype=np.bool_)
        for address, protocol, port in pod.shape.ports:
            for other, column in self.snapshot.ports.get((protocol, port), {}).items():
                if address in (ANY_ADDRESS, other) or other == ANY_ADDRESS:
                    taken |= column[rows] > 0
        return taken.astype(np.int64)

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return (REASON,)

    def interests(self) -> Iterable[Interest]:
        return (Interest(ASSIGNED_POD, Action.DELETE, _after_deletion), Interest(NODE, Action.ADD))


def conflict(one: Port, other: Port) -> bool:
    """Return whether two ports of a node are the same for those who connect."""
    return one[1:] == other[1:] and (one[0] == other[0] or ANY_ADDRESS in (one[0], other[0]))


def _after_deletion(pod: Pod, old: Pod, _new: None) -> bool:
    return any(conflict(one, other) for one in pod.shape.ports for other in old.shape.ports)


PLUGIN = NodePorts
