"""All pods of one pass in columns, a row each, so that plugins can ask about all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.api.selectors import Selector
from pybernetes.control_plane.descheduler.cluster import Cluster, counts
from pybernetes.control_plane.descheduler.owners import Owners
from pybernetes.control_plane.descheduler.pod_records import HAS_ENDED, PodRecord
from pybernetes.scheduling.columns import Bools, Floats, Ints
from pybernetes.scheduling.pods import Labels, Shape


class PodTable:
    """A row per pod. A pod that is evicted leaves at once: whoever asks next does not see it any more."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.records: list[PodRecord] = list(cluster.records.values())
        records, size, places = self.records, len(cluster.records), cluster.snapshot.rows
        self.size = size
        self.flags: Ints = np.fromiter((record.flags for record in records), np.int32, size)
        # The row of its node in the snapshot, or -1.
        self.node: Ints = np.fromiter((places.get(record.pod.node, -1) for record in records), np.int32, size)
        self.priority: Ints = np.fromiter((record.pod.priority for record in records), np.int64, size)
        self.created: Floats = np.fromiter((record.created for record in records), np.float64, size)
        self.started: Floats = np.fromiter((record.started for record in records), np.float64, size)
        self.alive: Bools = np.ones(size, dtype=np.bool_)
        self.evictions = 0
        self.gone: list[PodRecord] = []
        self.listeners: list[Callable[[int], None]] = []  # told of the row of each pod that goes
        # Pods of one template share their shape, and many templates their labels.
        self.shapes: list[Shape] = []
        self.shape: Ints = _codes((record.pod.shape for record in records), self.shapes, size)
        self.labels: list[Labels] = []
        by_shape = _codes((shape.labels for shape in self.shapes), self.labels, len(self.shapes))
        self.label: Ints = by_shape[self.shape] if size else np.zeros(0, dtype=np.int32)

    @cached_property
    def owners(self) -> Owners:
        """Who owns which pods."""
        return Owners(self.records)

    @cached_property
    def _by_label(self) -> tuple[Ints, Ints]:
        """All rows in the order of their labels, and where those of each begin."""
        order = np.argsort(self.label, kind="stable")
        return order, np.searchsorted(self.label[order], np.arange(len(self.labels) + 1))

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], list[int]]:
        """The numbers of labels by key and value."""
        result: dict[tuple[str, str], list[int]] = {}
        for number, labels in enumerate(self.labels):
            for pair in labels.labels.items():
                result.setdefault(pair, []).append(number)
        return result

    @cached_property
    def _keys(self) -> dict[str, list[int]]:
        """The numbers of labels by key."""
        result: dict[str, list[int]] = {}
        for number, labels in enumerate(self.labels):
            for key in labels.labels:
                result.setdefault(key, []).append(number)
        return result

    def labels_like(self, selector: Selector, matches: Callable[[Labels], bool]) -> list[int]:
        """Return the numbers of the labels that a function selects, which selects none that the selector does not."""
        numbers: Iterable[int] = range(len(self.labels))
        for requirement in selector.requirements:  # the others need not be looked at
            if requirement.operator == "in":
                groups = (self._pairs.get((requirement.key, value), ()) for value in requirement.values)
                numbers = chain.from_iterable(groups)
                break
            if requirement.operator == "exists":
                numbers = self._keys.get(requirement.key, ())
                break
        return [number for number in numbers if matches(self.labels[number])]

    def with_labels(self, numbers: Iterable[int]) -> Ints:
        """Return the rows of pods whose labels have certain numbers."""
        order, starts = self._by_label
        parts = [order[starts[number] : starts[number + 1]] for number in numbers]
        return np.concatenate(parts) if parts else order[:0]

    @property
    def running(self) -> Bools:
        """The pods that are there, on nodes, and have not ended."""
        return self.alive & (self.node >= 0) & (self.flags & HAS_ENDED == 0)

    def by_labels(self, function: Callable[[Labels], bool]) -> Bools:
        """Return the pods whose namespace and labels a function selects; it is asked once for equal ones."""
        table = np.fromiter((function(labels) for labels in self.labels), np.bool_, len(self.labels))
        return table[self.label] if self.size else np.zeros(0, dtype=np.bool_)

    def by_shape(self, function: Callable[[Shape], bool]) -> Bools:
        """Return the pods whose shape a function selects; it is asked once for equal ones."""
        table = np.fromiter((function(shape) for shape in self.shapes), np.bool_, len(self.shapes))
        return table[self.shape] if self.size else np.zeros(0, dtype=np.bool_)

    def selected(self, arguments: Object, namespaces: str = "namespaces") -> Bools:
        """Return the pods that a plugin's arguments select by namespace and by labels."""
        given = arguments.get(namespaces) or {}
        include, exclude = frozenset(given.get("include") or ()), frozenset(given.get("exclude") or ())
        wanted = arguments.get("labelSelector")
        selector = selectors.EVERYTHING if wanted is None else selectors.from_object(wanted)
        return self.by_labels(
            lambda labels: (
                (not include or labels.namespace in include)
                and labels.namespace not in exclude
                and selector.matches(labels.labels)
            )
        )

    def on_node(self, rows: Ints) -> dict[int, list[int]]:
        """Return some pods by the row of their node."""
        result: dict[int, list[int]] = {}
        for row, node in zip(rows.tolist(), self.node[rows].tolist(), strict=True):
            result.setdefault(node, []).append(row)
        return result

    def by_code(self, pods: Bools, codes: Ints) -> Iterator[tuple[int, Ints]]:
        """Yield each number that some pods have in a column, with their rows."""
        rows = np.flatnonzero(pods)
        return grouped(rows, codes[rows])

    def remove(self, row: int) -> None:
        """Take an evicted pod away."""
        record = self.records[row]
        self.alive[row] = False
        self.evictions += 1
        self.gone.append(record)
        if counts(record):
            self.cluster.snapshot.remove_pod(record.pod)
        for listener in self.listeners:
            listener(row)

    def restore(self) -> None:
        """Put back what was taken away: that a pod is really gone will be heard from the API server."""
        for record in self.gone:
            if counts(record):
                self.cluster.snapshot.add_pod(record.pod)
        self.gone.clear()


def grouped(rows: Ints, codes: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each number with the rows that have it."""
    if len(rows):
        order = np.argsort(codes, kind="stable")
        values, starts = np.unique(codes[order], return_index=True)
        yield from zip(values.tolist(), np.split(rows[order], starts[1:]), strict=True)


def _codes(values: Iterable[Any], distinct: list[Any], size: int) -> Ints:
    """Return numbers for values in the order of their first appearance; collect the distinct ones."""
    known: dict[int, int] = {}

    def code(value: Any) -> int:
        number = known.get(id(value))
        if number is None:
            number = known[id(value)] = len(distinct)
            distinct.append(value)
        return number

    return np.fromiter(map(code, values), np.int32, size)
