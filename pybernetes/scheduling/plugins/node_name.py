"""NodeName: a pod that names its node goes there."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from pybernetes.scheduling.cluster_events import NODE, Action, Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.plugin import FilterPlugin
from pybernetes.scheduling.pods import Pod

REASON = "node(s) didn't match the requested node name"


class NodeName(FilterPlugin):
    """Matters only when a pod that already has a node is tried out, as in a simulation."""

    name = "NodeName"
    points = ("preFilter", "filter")

    def filter_key(self, pod: Pod) -> Hashable | None:
        return pod.node or None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        row = self.snapshot.rows.get(pod.node, -1)
        return np.where(np.arange(self.snapshot.size)[rows] == row, 0, -1)

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return (REASON,)

    def interests(self) -> Iterable[Interest]:
        return (Interest(NODE, Action.ADD),)


PLUGIN = NodeName
