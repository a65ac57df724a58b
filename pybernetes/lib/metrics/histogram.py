"""Histograms in both of Prometheus' forms, at the cost of one: classic buckets with given bounds, and native ones.

The bounds of native buckets are powers of 2 to the eighth (each is 9 % wider than the one before, as upstream's are). A
value is looked up once, among the bounds of both forms together; what lies between two of those belongs to one bucket of
either form, so that both are added up when somebody scrapes. Only places that were hit take memory. What happens a hundred
thousand times a second does not even call: it leaves its values to be looked up by and by, many at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache, partial
from math import ldexp
from typing import NamedTuple

_SCHEMA = 3
_MOST_BUCKETS = 160
# Bounds from a billionth to 2 to the 64th: key k is the bucket that ends with 2 to the power of k/8.
_LOWEST_KEY, _HIGHEST_KEY = -30 << _SCHEMA, 64 << _SCHEMA
_PART = (1 << _SCHEMA) - 1
_NATIVE = tuple(
    ldexp(2.0 ** ((key & _PART) / (_PART + 1)), key >> _SCHEMA)
    for key in range(_LOWEST_KEY, _HIGHEST_KEY + 1)
)
LOWEST = _NATIVE[0]
# Who leaves values waits no longer than this many with having them counted.
MANY = 64


class Native(NamedTuple):
    """A native histogram: how fine it is, what counts as zero, how often that was, and the buckets by their keys."""

    schema: int
    zero_threshold: float
    zero_count: int
    buckets: dict[int, int]


@lru_cache(maxsize=256)
def _edges(bounds: tuple[float, ...], lowest: float) -> tuple[float, ...]:
    return tuple(sorted({*bounds, *_NATIVE[bisect_left(_NATIVE, lowest) :]}))


class Histogram:
    """Counts of values by size. What is at most ``lowest`` is not told apart further in the native form."""

    __slots__ = ("bins", "bounds", "edges", "lowest", "total", "waiting")

    def __init__(self, bounds: tuple[float, ...], lowest: float = LOWEST) -> None:
        self.bounds, self.lowest = bounds, lowest
        self.edges = _edges(bounds, lowest)
        self.bins: dict[int, int] = {}  # how many values are up to each edge, and above the one before
        self.total = 0.0
        self.waiting: list[float] = []  # values that are still to be counted

    def collect(self) -> None:
        """Count the values that wait."""
        number = len(self.waiting)  # more may come meanwhile
        if not number:
            return
        values = self.waiting[:number]
        del self.waiting[:number]
        bins = self.bins
        for place, count in Counter(map(partial(bisect_left, self.edges), values)).items():
            bins[place] = bins.get(place, 0) + count
        self.total += sum(values)

    def leave(self, value: float) -> None:
        """Leave a value to be counted later, together with others."""
        waiting = self.waiting
        waiting.append(value)
        if len(waiting) >= MANY:
            self.collect()

    def observe(self, value: float, times: int = 1) -> None:
        """Count a value."""
        place = bisect_left(self.edges, value)
        bins = self.bins
        bins[place] = bins.get(place, 0) + times
        self.total += value * times

    def count(self, value: float, times: int = 1) -> None:
        """Count a value that somebody has added to the total already; a negative number of times takes it back."""
        place = bisect_left(self.edges, value)
        self.bins[place] = self.bins.get(place, 0) + times

    def add(self, other: Histogram) -> None:
        """Add what another has, whose bounds are these or more."""
        other.collect()
        same = self.edges is other.edges
        for place, count in list(other.bins.items()):
            mine = place if same else other._bucket(self.edges, place)
            self.bins[mine] = self.bins.get(mine, 0) + count
        self.total += other.total

    @property
    def number(self) -> int:
        """How many values were counted."""
        self.collect()
        return sum(self.bins.values())

    @property
    def counts(self) -> list[int]:
        """How many values are in each classic bucket: one more than bounds, not summed up."""
        self.collect()
        counts = [0] * (len(self.bounds) + 1)
        for place, count in list(self.bins.items()):
            counts[self._bucket(self.bounds, place)] += count
        return counts

    def native(self) -> Native:
        """Return the native form, in buckets that are wide enough for there not to be too many."""
        self.collect()
        zero, buckets = 0, dict[int, int]()
        for place, count in list(self.bins.items()):
            if place < len(self.edges) and self.edges[place] <= self.lowest:
                zero += count
            elif count:
                key = self._bucket(_NATIVE, place) + _LOWEST_KEY
                buckets[key] = buckets.get(key, 0) + count
        schema = _SCHEMA
        while len(buckets) > _MOST_BUCKETS:
            wider: dict[int, int] = {}
            for key, count in buckets.items():
                wider[(key + 1) >> 1] = wider.get((key + 1) >> 1, 0) + count
            schema, buckets = schema - 1, wider
        return Native(schema, self.lowest, zero, buckets)

    def _bucket(self, bounds: tuple[float, ...], place: int) -> int:
        return bisect_left(bounds, self.edges[place]) if place < len(self.edges) else len(bounds)


def merged(histograms: Iterable[Histogram], bounds: tuple[float, ...]) -> Histogram:
    """Return what several histograms have together, with bounds that all of them have."""
    whole = Histogram(bounds)
    for histogram in histograms:
        whole.add(histogram)
    return whole
