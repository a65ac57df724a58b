"""Counters and histograms by labels: counting is an addition in a table, text is made when somebody scrapes.

Label values come from a fixed set, or from objects that somebody with the right to create them made; never from what
any client sent.
"""

from __future__ import annotations

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.histogram import Histogram as Histogram


def exponential(first: float, factor: float, count: int) -> tuple[float, ...]:
    """Return the bounds of buckets, each a factor larger than the one before."""
    return tuple(first * factor**power for power in range(count))


class Counters:
    """A counter for each combination of the values of its labels."""

    def __init__(self, name: str, text: str, labels: tuple[str, ...] = ()) -> None:
        self.name, self._text, self._labels = name, text, labels
        self.values: dict[tuple[str, ...], int] = {} if labels else {(): 0}

    def add(self, *values: str, by: int = 1) -> None:
        """Add to the counter of these values of the labels."""
        self.values[values] = self.values.get(values, 0) + by

    def write(self, text: Exposition) -> None:
        """Write all counters."""
        text.family(self.name, "counter", self._text)
        for values, count in self.values.items():
            text.sample(self.name, tuple(zip(self._labels, values, strict=True)), count)


class Histograms:
    """A histogram for each combination of the values of its labels."""

    def __init__(self, name: str, text: str, bounds: tuple[float, ...], labels: tuple[str, ...] = ()) -> None:
        self.name, self._text, self._bounds, self._labels = name, text, bounds, labels
        self.values: dict[tuple[str, ...], Histogram] = {} if labels else {(): Histogram(bounds)}

    def observe(self, value: float, *values: str) -> None:
        """Count a value under these values of the labels."""
        histogram = self.values.get(values)
        if histogram is None:
            histogram = self.values[values] = Histogram(self._bounds)
        histogram.observe(value)

    def write(self, text: Exposition) -> None:
        """Write all histograms."""
        text.family(self.name, "histogram", self._text)
        for values, histogram in self.values.items():
            labels = tuple(zip(self._labels, values, strict=True))
            text.histogram(self.name, labels, histogram)
