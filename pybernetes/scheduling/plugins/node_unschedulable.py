"""NodeUnschedulable: cordoned nodes take no pods but those that tolerate it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from pybernetes.scheduling.affinity_terms import UNSCHEDULABLE, is_tolerated
from pybernetes.scheduling.cluster_events import NODE, TARGET_POD, Action, Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.plugin import FilterPlugin
from pybernetes.scheduling.pods import Pod

REASON = "node(s) were unschedulable"


class NodeUnschedulable(FilterPlugin):
    """Looks at ``spec.unschedulable``."""

    name = "NodeUnschedulable"
    points = ("preFilter", "filter")

    def filter_key(self, pod: Pod) -> Hashable | None:
        return None if is_tolerated(UNSCHEDULABLE, pod.shape.tolerations) else True

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        return -self.snapshot.unschedulable[rows].astype(np.int64)

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return (REASON,)

    def interests(self) -> Iterable[Interest]:
        return (
            Interest(NODE, Action.ADD | Action.UPDATE_NODE_TAINT, _after_node),
            Interest(
                TARGET_POD,
                Action.UPDATE_POD_TOLERATION,
                lambda pod, old, new: is_tolerated(UNSCHEDULABLE, new.shape.tolerations),
            ),
        )


def _after_node(pod: Pod, old: Node | None, new: Node) -> bool:
    return not new.unschedulable and (old is None or old.unschedulable)


PLUGIN = NodeUnschedulable
