"""How many pods of each node have which affinity term.

A pod may have thousands of terms. A column for each of them would be 8 bytes for every node, for a term that one node has pods with.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from pybernetes.scheduling.affinity_terms import PodTerm
from pybernetes.scheduling.columns import Ints, LabelColumn
from pybernetes.scheduling.counters import Tally
from pybernetes.scheduling.pods import Pod

# So many terms have a column in any case. A further one gets it once one node of eight has pods with it: what is kept for each row
# by itself would be as large.
COLUMNS = 256
_ROWS_FOR_A_COLUMN = 8


class Summed(Protocol):
    """A count by node."""

    def sums(self, label: LabelColumn, moment: int) -> Ints:
        """Return the counts summed up by the label's values; number 0 are the nodes without it."""


class SparseTally:
    """Counts of few rows. Their sums are not kept: those of thousands of terms would be as large as columns."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}

    def add(self, row: int, change: int) -> None:
        """Add a number to the count of a row."""
        count = self.rows[row] = self.rows.get(row, 0) + change
        if not count:
            del self.rows[row]

    def sums(self, label: LabelColumn, moment: int) -> Ints:
        """Return the counts summed up by the label's values; number 0 are the nodes without it."""
        sums = np.zeros(len(label.values), dtype=np.int64)
        rows = np.fromiter(self.rows, dtype=np.intp, count=len(self.rows))
        counts = np.fromiter(self.rows.values(), dtype=np.int64, count=len(self.rows))
        np.add.at(sums, label.codes[rows], counts)
        return sums

    def has_none(self, row: int) -> bool:
        """Return whether nothing is counted any more."""
        return not self.rows

    def dense(self, capacity: int) -> Tally:
        """Return the same counts as a column."""
        tally = Tally(capacity)
        for row, count in self.rows.items():
            tally.add(row, count)
        return tally


_AnyTally = Tally | SparseTally


class TermTallies:
    """The affinity terms of the pods that are on nodes: how many pods of each node have each term."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._columns = 0  # how many terms have one
        self.version = 0  # changes when a term appears or disappears
        self.weight = 0  # the bytes of all terms
        self.anti: dict[PodTerm, _AnyTally] = {}
        self.required: dict[PodTerm, _AnyTally] = {}
        self.preferred: dict[tuple[int, PodTerm], _AnyTally] = {}

    def count(self, pod: Pod, row: int, change: int) -> None:
        """Count a pod that has come to a row (1) or left it (-1)."""
        affinity = pod.shape.affinity
        if affinity is None:
            return
        for term in affinity.anti:
            self._count(self.anti, term, row, change)
        for term in affinity.affinity:
            self._count(self.required, term, row, change)
        for weighted in affinity.preferred:
            self._count(self.preferred, weighted, row, change)

    def _count(self, tallies: dict[Any, _AnyTally], term: Any, row: int, change: int) -> None:
        tally = tallies.get(term)
        if tally is None:
            tally = tallies[term] = SparseTally()
            self.version += 1
            self.weight += _weight(term)
        tally.add(row, change)
        if isinstance(tally, SparseTally) and self._deserves_column(tally):
            tallies[term] = tally.dense(self._capacity)
            self._columns += 1
        elif change < 0 and tally.has_none(row):
            del tallies[term]
            self._columns -= isinstance(tally, Tally)
            self.version += 1
            self.weight -= _weight(term)

    def _deserves_column(self, tally: SparseTally) -> bool:
        rows = len(tally.rows)
        return bool(rows) and (self._columns < COLUMNS or rows * _ROWS_FOR_A_COLUMN > self._capacity)

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self._capacity = capacity
        for tally in (*self.anti.values(), *self.required.values(), *self.preferred.values()):
            if isinstance(tally, Tally):
                tally.grow(capacity)


def _weight(term: PodTerm | tuple[int, PodTerm]) -> int:
    return len((term if isinstance(term, PodTerm) else term[1]).text)
