"""RemovePodsViolatingInterPodAntiAffinity: pods near others that their anti-affinity forbids."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pybernetes.control_plane.descheduler.argument_types import selecting_arguments
from pybernetes.control_plane.descheduler.plugin import (
    DESCHEDULE,
    Decisions,
    SelectingPlugin,
    evict_node_by_node,
)
from pybernetes.control_plane.descheduler.view import View
from pybernetes.scheduling.affinity_terms import PodTerm
from pybernetes.scheduling.columns import Bools, Ints
from pybernetes.scheduling.pods import Shape


class _Near:
    """How many of the pods that a term is about are in the domain of each node."""

    def __init__(self, view: View, term: PodTerm, considered: Bools) -> None:
        self.view = view
        rows = view.table.with_labels(view.fit.labels_of(term))
        rows = rows[considered[rows]]
        self.pods = set(rows.tolist())
        label, size = view.snapshot.label(term.topology_key), view.snapshot.size
        codes = label.codes[:size]
        # A node without the label is a domain of its own.
        self.domain: Ints = np.where(codes != 0, codes, len(label.values) + np.arange(size))
        self.counts: Ints = np.bincount(
            self.domain[view.table.node[rows]], minlength=len(label.values) + size
        )

    def others(self, row: int) -> bool:
        """Return whether there are such pods, besides itself, near a pod."""
        near = self.counts[self.domain[self.view.table.node[row]]]
        return bool(near > (row in self.pods))

    def gone(self, row: int) -> None:
        """Count a pod no longer."""
        if row in self.pods:
            self.counts[self.domain[self.view.table.node[row]]] -= 1


class RemovePodsViolatingInterPodAntiAffinity(SelectingPlugin):
    """On each node the least important pods go first, until what is left gets along."""

    name = "RemovePodsViolatingInterPodAntiAffinity"
    points = (DESCHEDULE,)
    arguments_type = selecting_arguments("RemovePodsViolatingInterPodAntiAffinity")

    def decide(self, view: View) -> Decisions:
        table, evictable = view.table, view.evictable
        considered = view.on_nodes(table.running & table.selected(self.arguments))
        unsocial = considered & table.by_shape(lambda shape: bool(_terms(shape)))
        near: dict[PodTerm, _Near] = {}

        def violating(rows: list[int]) -> Iterator[int]:
            for row in sorted(rows, key=lambda row: view.record(row).order()):
                terms = _terms(view.record(row).pod.shape)
                for term in terms:
                    if term not in near:
                        near[term] = _Near(view, term, considered & table.alive)
                if any(near[term].others(row) for term in terms) and evictable[row] and view.may_leave(row):
                    yield row

        def gone(row: int) -> None:
            for neighbours in near.values():
                neighbours.gone(row)

        yield from evict_node_by_node((violating(rows) for _, rows in view.by_node(unsocial)), gone)


def _terms(shape: Shape) -> tuple[PodTerm, ...]:
    return () if shape.affinity is None else shape.affinity.anti


PLUGIN = RemovePodsViolatingInterPodAntiAffinity
