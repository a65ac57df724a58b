"""Whether a pod would fit onto other nodes, as upstream's NodeFit has it, answered for all nodes at once."""

from __future__ import annotations

import numpy as np

from pybernetes.control_plane.descheduler.pod_records import HAS_ENDED
from pybernetes.control_plane.descheduler.pod_table import PodTable, grouped
from pybernetes.scheduling.affinity_terms import PodTerm
from pybernetes.scheduling.columns import Bools, Ints, Rows
from pybernetes.scheduling.plugins.node_affinity import matching
from pybernetes.scheduling.plugins.taint_toleration import turns_away
from pybernetes.scheduling.pods import Labels, Pod, Shape

_MANY = 64  # changes beyond which all nodes are looked at again


class _Known:
    """Where pods of a shape fit, as of a position in the snapshot's journal."""

    __slots__ = ("count", "fits", "nodes", "position")

    def __init__(self, fits: Bools, position: int) -> None:
        self.fits, self.position = fits, position
        self.nodes: Bools | None = None  # those that were asked about last, and how many of them fit
        self.count = 0


class Fit:
    """Answers for one pass, in which nodes do not change and pods only go away.

    A node takes a pod if it is schedulable, has what node selector and affinity ask for and no taint that is not
    tolerated, holds no pod that the pod's own anti-affinity forbids, and has room.
    """

    def __init__(self, table: PodTable) -> None:
        self._table, self._cluster, self._snapshot = table, table.cluster, table.cluster.snapshot
        self._admitted: dict[tuple[object, object], Bools] = {}
        self._known: dict[object, _Known] = {}
        self._near: dict[PodTerm, Ints] = {}
        self._counting: dict[
            int, list[Ints]
        ] = {}  # the columns above in which pods with certain labels count
        table.listeners.append(self._gone)

    def admitted(self, shape: Shape) -> Bools:
        """Return which nodes have the labels that pods of a shape ask for, and no taint in their way."""
        key = shape.node_affinity, shape.tolerations
        known = self._admitted.get(key)
        if known is None:
            snapshot = self._snapshot
            known = snapshot.valid[snapshot.all].copy()
            if shape.node_affinity is not None and shape.node_affinity.restricts:
                known &= matching(snapshot, shape.node_affinity, snapshot.all)
            away = snapshot.taints.lookup(lambda taints: turns_away(taints, shape.tolerations), np.bool_)
            known &= ~away[snapshot.taints.codes[snapshot.all]]
            self._admitted[key] = known
        return known

    def elsewhere(self, pod: Pod, nodes: Bools) -> bool:
        """Return whether a pod fits onto any of some nodes but its own."""
        known = self._fits(pod)
        if known.nodes is not nodes:
            known.nodes, known.count = nodes, int(np.count_nonzero(known.fits & nodes))
        own = self._snapshot.rows.get(pod.node, -1)
        return known.count > (own >= 0 and bool(known.fits[own] and nodes[own]))

    def all_elsewhere(self, rows: Ints, nodes: Bools) -> Bools:
        """Return which of some pods fit onto any of some nodes but their own; pods of a shape are asked about together."""
        table = self._table
        result = np.zeros(len(rows), dtype=np.bool_)
        own = table.node[rows]
        for _, places in grouped(np.arange(len(rows)), table.shape[rows]):
            pod = table.records[int(rows[places[0]])].pod
            if all(table.records[row].pod.requests is pod.requests for row in rows[places].tolist()):
                fits = self._fits(pod).fits & nodes
                result[places] = np.count_nonzero(fits) > (fits[own[places]] & (own[places] >= 0))
            else:  # some have been resized
                result[places] = [
                    self.elsewhere(table.records[row].pod, nodes) for row in rows[places].tolist()
                ]
        return result

    def anywhere(self, pod: Pod, nodes: Bools) -> bool:
        """Return whether a pod fits onto any of some nodes; on its own it has room already."""
        if self.elsewhere(pod, nodes):
            return True
        own = self._snapshot.rows.get(pod.node, -1)
        if own < 0 or not nodes[own] or self._snapshot.unschedulable[own]:
            return False
        return bool(self.admitted(pod.shape)[own]) and not self._forbidden(pod, slice(own, own + 1), 1)[0]

    def _fits(self, pod: Pod) -> _Known:
        """Return which nodes take a pod; only those that changed since the last pod like it are looked at."""
        key = pod.shape if pod.requests is pod.shape.requests else (pod.shape, pod.requests)
        snapshot, known = self._snapshot, self._known.get(key)
        position = snapshot.changes.position
        if known is None:
            known = self._known[key] = _Known(self._ask(pod, snapshot.all), position)
        if known.position != position:
            changed = snapshot.changes.since(known.position)
            if changed is None or len(changed) > _MANY:
                known.fits = self._ask(pod, snapshot.all)
            else:
                rows = np.unique(np.array(changed, dtype=np.int64))
                known.fits[rows] = self._ask(pod, rows)
            known.position, known.nodes = position, None
        return known

    def _ask(self, pod: Pod, rows: Rows) -> Bools:
        snapshot = self._snapshot
        fits: Bools = self.admitted(pod.shape)[rows] & ~snapshot.unschedulable[rows]
        fits &= snapshot.pod_count[rows] < snapshot.allowed_pods[rows]
        snapshot.deepen()
        for resource, amount in pod.requests.amounts:
            fits &= snapshot.allocatable[resource, rows] - snapshot.requested[resource, rows] >= amount
        fits &= ~self._forbidden(pod, rows, 0)
        return fits

    def _forbidden(self, pod: Pod, rows: Rows, own: int) -> Bools:
        """Return the nodes with pods that a pod's anti-affinity forbids; ``own``: how often it is there itself."""
        snapshot, affinity = self._snapshot, pod.shape.affinity
        result: Bools = np.zeros(len(snapshot.valid[rows]), dtype=np.bool_)
        for term in affinity.anti if affinity is not None else ():
            itself = own if self.concerns(term, pod.shape.labels) else 0
            result |= (self._count(term)[rows] > itself) & (
                snapshot.label(term.topology_key).codes[rows] != 0
            )
        return result

    def _count(self, term: PodTerm) -> Ints:
        """Return how many of the pods that a term is about are on each node."""
        column = self._near.get(term)
        if column is None:
            table = self._table
            numbers = self.labels_of(term)
            rows = table.with_labels(numbers)
            nodes = table.node[rows[table.running[rows]]]
            column = self._near[term] = np.bincount(nodes, minlength=self._snapshot.size)
            for number in numbers:
                self._counting.setdefault(number, []).append(column)
        return column

    def _gone(self, row: int) -> None:
        table = self._table
        if table.node[row] >= 0 and not table.flags[row] & HAS_ENDED:
            for column in self._counting.get(int(table.label[row]), ()):
                column[table.node[row]] -= 1

    def labels_of(self, term: PodTerm) -> list[int]:
        """Return the numbers of the labels that an affinity term is about."""
        return self._table.labels_like(term.selector, lambda labels: self.concerns(term, labels))

    def concerns(self, term: PodTerm, labels: Labels) -> bool:
        """Return whether an affinity term is about pods with some labels."""
        namespace = labels.namespace
        return term.matches(namespace, self._cluster.namespace_labels(namespace), labels.labels)
