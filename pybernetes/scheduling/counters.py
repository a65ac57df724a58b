"""How many pods of which kind are on each node and in each topology, counted as pods come and go."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np

from pybernetes.scheduling.columns import Ints, LabelColumn, grown
from pybernetes.scheduling.pods import Labels, Pod


class Tally:
    """A column of counts, and their sums over the nodes that share a label's value."""

    __slots__ = ("_sums", "column")

    def __init__(self, capacity: int) -> None:
        self.column: Ints = np.zeros(capacity, dtype=np.int64)
        # By label column: the sums by value, and as of which change of nodes.
        self._sums: dict[LabelColumn, tuple[Ints, int]] = {}

    def add(self, row: int, change: int) -> None:
        """Add a number to the count of a row."""
        self.column[row] += change
        for label, (sums, _) in self._sums.items():
            value = label.codes[row]
            if value < len(sums):  # else it is out of date and is made anew when it is asked for
                sums[value] += change

    def sums(self, label: LabelColumn, moment: int) -> Ints:
        """Return the counts summed up by the label's values; number 0 are the nodes without it."""
        known = self._sums.get(label)
        if known is None or known[1] != moment:
            size = len(label.codes)
            sums = np.bincount(label.codes, weights=self.column[:size], minlength=len(label.values))
            known = self._sums[label] = (sums.astype(np.int64), moment)
        return known[0]

    def has_none(self, row: int) -> bool:
        """Return whether nothing is counted any more, after a row's count went down."""
        # Whether any are left is only worth looking at when this row has none.
        return self.column[row] == 0 and not self.column.any()

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.column = grown(self.column, capacity)
        self._sums.clear()


class Counter(Tally):
    """Counts the pods with certain labels. ``weight`` tells how many bytes these are asked for in."""

    __slots__ = ("counts_deleting", "matches", "used", "weight")

    def __init__(
        self, matches: Callable[[Labels], bool], counts_deleting: bool, capacity: int, weight: int
    ) -> None:
        super().__init__(capacity)
        self.weight = weight
        self.matches = matches
        self.counts_deleting = counts_deleting
        self.used = 0


class Counters:
    """The counters that somebody has asked for; those that nobody asks for any more are dropped."""

    LIMIT = 256

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._counters: dict[Hashable, Counter] = {}
        self._version = object()  # another one whenever the set of counters changes
        self._clock = 0
        self.weight = 0  # of all counters
        # How many pods with which labels, deleting or not, are in which row; kept from the first counter on.
        self._placed: dict[tuple[Labels, bool], dict[int, int]] | None = None

    def get(
        self,
        key: Hashable,
        matches: Callable[[Labels], bool],
        counts_deleting: bool,
        pods: Callable[[], Iterable[tuple[int, Pod]]],
        weight: int = 0,
    ) -> Counter:
        """Return the counter of a key; ``pods``, all pods with their rows, are read when it is new."""
        self._clock += 1
        counter = self._counters.get(key)
        if counter is None:
            if len(self._counters) >= self.LIMIT:
                self._forget()
            counter = self._counters[key] = Counter(matches, counts_deleting, self._capacity, weight)
            self.weight += weight
            self._version = object()
            if self._placed is None:
                self._placed = {}
                for row, pod in pods():
                    self._place(pod, row, 1)
            for (labels, deleting), rows in self._placed.items():
                if (counts_deleting or not deleting) and matches(labels):
                    for row, count in rows.items():
                        counter.column[row] += count
        counter.used = self._clock
        return counter

    def count(self, pod: Pod, row: int, change: int) -> None:
        """Count a pod that has come to a row (1) or left it (-1)."""
        labels = pod.shape.labels
        if labels.version is not self._version:
            labels.version = self._version
            labels.counters = tuple(counter for counter in self._counters.values() if counter.matches(labels))
        for counter in labels.counters:
            if counter.counts_deleting or not pod.deleting:
                counter.add(row, change)
        if self._placed is not None:
            self._place(pod, row, change)

    def _place(self, pod: Pod, row: int, change: int) -> None:
        assert self._placed is not None
        key = pod.shape.labels, pod.deleting
        rows = self._placed.setdefault(key, {})
        count = rows[row] = rows.get(row, 0) + change
        if not count:
            del rows[row]
            if not rows:
                del self._placed[key]

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self._capacity = capacity
        for counter in self._counters.values():
            counter.grow(capacity)

    def _forget(self) -> None:
        """Drop the half that has not been asked for the longest."""
        by_use = sorted(self._counters.items(), key=lambda item: item[1].used)
        for key, _ in by_use[: self.LIMIT // 2]:
            self.weight -= self._counters.pop(key).weight
        self._version = object()
