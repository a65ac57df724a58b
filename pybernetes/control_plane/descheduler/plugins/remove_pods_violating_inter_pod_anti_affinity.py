"""RemovePodsViolatingInterPodAntiAffinity: pods near others that their anti-affinity forbids."""

from __future__ import annotations

from collections import Counter
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

    def __init__(self, view: View, term: PodTerm, domain: Ints, considered: Bools) -> None:
        self._table, self._domain, self._considered = view.table, domain, considered
        self.labels = frozenset(view.fit.labels_of(term))
        rows = view.table.with_labels(self.labels)
        rows = rows[considered[rows] & view.table.alive[rows]]
        self._counts = Counter(domain[view.table.node[rows]].tolist())

    def _counted(self, row: int) -> bool:
        return bool(self._considered[row]) and int(self._table.label[row]) in self.labels

    def others(self, row: int) -> bool:
        """Return whether there are such pods, besides itself, near a pod."""
        return self._counts[int(self._domain[self._table.node[row]])] > self._counted(row)

    def gone(self, row: int) -> None:
        """Count a pod no longer."""
        if self._counted(row):
            self._counts[int(self._domain[self._table.node[row]])] -= 1


class _Neighbourhoods:
    """What is near by each term; terms are looked at when somebody asks: a pod may have thousands."""

    def __init__(self, view: View, considered: Bools) -> None:
        self._view, self._considered = view, considered
        self._near: dict[PodTerm, _Near] = {}
        self._counting: dict[int, list[_Near]] = {}  # those that count pods with certain labels
        self._domains: dict[str, Ints] = {}

    def near(self, term: PodTerm) -> _Near:
        """Return what is near by a term."""
        known = self._near.get(term)
        if known is None:
            domain = self._domain(term.topology_key)
            known = self._near[term] = _Near(self._view, term, domain, self._considered)
            for number in known.labels:
                self._counting.setdefault(number, []).append(known)
        return known

    def _domain(self, key: str) -> Ints:
        """Return the domain of each node; one without the label is a domain of its own."""
        domain = self._domains.get(key)
        if domain is None:
            label, size = self._view.snapshot.label(key), self._view.snapshot.size
            codes = label.codes[:size]
            domain = self._domains[key] = np.where(codes != 0, codes, len(label.values) + np.arange(size))
        return domain

    def gone(self, row: int) -> None:
        """Count a pod no longer."""
        for near in self._counting.get(int(self._view.table.label[row]), ()):
            near.gone(row)


class RemovePodsViolatingInterPodAntiAffinity(SelectingPlugin):
    """On each node the least important pods go first, until what is left gets along."""

    name = "RemovePodsViolatingInterPodAntiAffinity"
    points = (DESCHEDULE,)
    arguments_type = selecting_arguments("RemovePodsViolatingInterPodAntiAffinity")

    def decide(self, view: View) -> Decisions:
        table, evictable = view.table, view.evictable
        considered = view.on_nodes(table.running & table.selected(self.arguments))
        unsocial = considered & table.by_shape(lambda shape: bool(_terms(shape)))
        neighbourhoods = _Neighbourhoods(view, considered)

        def violating(rows: list[int]) -> Iterator[int]:
            for row in sorted(rows, key=lambda row: view.record(row).order()):
                terms = _terms(view.record(row).pod.shape)
                if (
                    evictable[row]
                    and any(neighbourhoods.near(term).others(row) for term in terms)
                    and view.may_leave(row)
                ):
                    yield row

        yield from evict_node_by_node(
            (violating(rows) for _, rows in view.by_node(unsocial)), neighbourhoods.gone
        )


def _terms(shape: Shape) -> tuple[PodTerm, ...]:
    return () if shape.affinity is None else shape.affinity.anti


PLUGIN = RemovePodsViolatingInterPodAntiAffinity
