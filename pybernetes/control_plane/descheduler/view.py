"""What plugins of a profile see during a pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from pybernetes.api.selectors import parse_labels
from pybernetes.control_plane.descheduler.cluster import Cluster
from pybernetes.control_plane.descheduler.fit import Fit
from pybernetes.control_plane.descheduler.node_usage import Usage
from pybernetes.control_plane.descheduler.pod_records import PodRecord
from pybernetes.control_plane.descheduler.pod_table import PodTable
from pybernetes.scheduling.columns import Bools, Floats, Ints
from pybernetes.scheduling.snapshot import Snapshot


class Rules(Protocol):
    """The evictor plugins of a profile."""

    def evictable(self, view: View) -> Bools: ...

    def may_leave(self, view: View, row: int) -> bool: ...

    def all_may_leave(self, view: View, rows: Ints) -> Bools: ...


class View:
    """Pods, nodes and the time of one pass, and the rules of one profile about which pods may go."""

    def __init__(
        self,
        table: PodTable,
        fit: Fit,
        rules: Rules,
        now: float,
        node_selector: str = "",
        usages: Mapping[object, Usage | str] | None = None,
    ) -> None:
        self.table, self.fit, self.now = table, fit, now
        self.cluster: Cluster = table.cluster
        self.snapshot: Snapshot = table.cluster.snapshot
        self._ready: dict[str, Bools] = {}
        self.nodes: Bools = self.ready_nodes(node_selector)  # those that the policy is about
        self.usages = (
            usages or {}
        )  # what nodes and pods really use, by where it was asked for; a text: why not
        self._rules = rules
        self._evictable: Bools | None = None
        self._as_of = -1

    def ready_nodes(self, selector: str) -> Bools:
        """Return the nodes that are ready and have certain labels."""
        result = self._ready.get(selector)
        if result is None:
            wanted, snapshot = parse_labels(selector), self.snapshot
            result = self._ready[selector] = np.zeros(snapshot.size, dtype=np.bool_)
            for name, node in self.cluster.nodes.items():
                result[snapshot.rows[name]] = node.ready and wanted.matches(node.node.labels)
        return result

    @property
    def ages(self) -> Floats:
        """How long ago pods were created, in whole seconds; not a number if that is not known."""
        return np.floor(self.now - self.table.created)

    @property
    def evictable(self) -> Bools:
        """Which pods may go, as of the last eviction before it is asked for."""
        if self._evictable is None or self._as_of != self.table.evictions:
            self._evictable = self._rules.evictable(self) & self.table.alive
            self._as_of = self.table.evictions
        return self._evictable

    def may_leave(self, row: int) -> bool:
        """Return whether a pod that was picked may go now: what is asked only of those, because it costs more."""
        return self._rules.may_leave(self, row)

    def all_may_leave(self, rows: Ints) -> Ints:
        """Return those of many pods that may go now, if none of them does."""
        return rows[self._rules.all_may_leave(self, rows)]

    def on_nodes(self, pods: Bools) -> Bools:
        """Return those of some pods that are on nodes which the policy is about."""
        if not len(self.nodes):
            return np.zeros_like(pods)
        node = self.table.node
        result: Bools = pods & (node >= 0) & self.nodes[node]
        return result

    def by_node(self, pods: Bools) -> list[tuple[int, list[int]]]:
        """Return some pods by the row of their node, in the order of the nodes' names."""
        groups = self.table.on_node(np.flatnonzero(self.on_nodes(pods)))
        return sorted(groups.items(), key=lambda group: self.snapshot.names[group[0]])

    def record(self, row: int) -> PodRecord:
        """Return the pod of a row."""
        return self.table.records[row]

    def node_rows(self) -> Ints:
        """Return the rows of the nodes that the policy is about, in the order of their names."""
        rows = np.flatnonzero(self.nodes)
        return np.array(sorted(rows.tolist(), key=self.snapshot.names.__getitem__), dtype=np.int64)
