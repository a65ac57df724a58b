"""RemovePodsViolatingInterPodAntiAffinity: pods near others that their anti-affinity forbids."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    NAMESPACES,
    SELECTOR,
    arguments,
    check_selection,
)
from pybernetes.control_plane.descheduler.plugin import DESCHEDULE, Decisions, Outcome, StrategyPlugin
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


class RemovePodsViolatingInterPodAntiAffinity(StrategyPlugin):
    """On each node the least important pods go first, until what is left gets along."""

    name = "RemovePodsViolatingInterPodAntiAffinity"
    points = (DESCHEDULE,)
    arguments_type = arguments(
        "RemovePodsViolatingInterPodAntiAffinity", namespaces=NAMESPACES, labelSelector=SELECTOR
    )

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        return check_selection(arguments)

    def decide(self, view: View) -> Decisions:
        table, evictable = view.table, view.evictable
        considered = view.on_nodes(table.running & table.selected(self.arguments))
        unsocial = considered & table.by_shape(lambda shape: bool(_terms(shape)))
        near: dict[PodTerm, _Near] = {}
        for _, rows in view.by_node(unsocial):
            for row in sorted(rows, key=lambda row: view.record(row).order()):
                terms = _terms(view.record(row).pod.shape)
                for term in terms:
                    if term not in near:
                        near[term] = _Near(view, term, considered & table.alive)
                if not any(near[term].others(row) for term in terms):
                    continue
                if not evictable[row] or not view.may_leave(row):
                    continue
                outcome = yield row
                if outcome is not None and outcome.leaves:
                    for each in near.values():
                        each.gone(row)
                elif outcome is Outcome.NODE_LIMIT:
                    break
                elif outcome is Outcome.TOTAL_LIMIT:
                    return


def _terms(shape: Shape) -> tuple[PodTerm, ...]:
    return () if shape.affinity is None else shape.affinity.anti


PLUGIN = RemovePodsViolatingInterPodAntiAffinity
