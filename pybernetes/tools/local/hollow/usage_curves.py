"""How much something uses over time: curves that can be asked for a value and for the area below them. Pure.

250m                      always the same
sine(100m, 900m, 10m)     up and down between two values, once per period
shared(CURVE)             the load of all pods of one owner, of which each has its part
"""

from __future__ import annotations

import csv
import io
import math
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from pybernetes.api import quantity
from pybernetes.api.text.durations import parse_duration

_CALL = re.compile(r"\s*([a-z]+)\((.*)\)\s*\Z", re.DOTALL)
_LONGEST = 256
_MOST_ROWS = 100_000


class Curve(Protocol):
    """A value over time. Seconds count since the start of whatever uses it."""

    @property
    def shared(self) -> bool: ...

    def at(self, seconds: float) -> float:
        """Return the value at a moment."""

    def area(self, start: float, end: float) -> float:
        """Return the sum of the value over time, such as CPU time for a curve of cores."""


@dataclass(frozen=True)
class Constant:
    """Always the same."""

    value: float
    shared: bool = False

    def at(self, seconds: float) -> float:
        """Return the value at a moment."""
        return self.value

    def area(self, start: float, end: float) -> float:
        """Return the area between two moments."""
        return self.value * (end - start)


@dataclass(frozen=True)
class Sine:
    """Up and down between two values: it begins in the middle and goes up."""

    low: float
    high: float
    period: float
    shared: bool = False

    def at(self, seconds: float) -> float:
        """Return the value at a moment."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return middle + half * math.sin(2 * math.pi * seconds / self.period)

    def area(self, start: float, end: float) -> float:
        """Return the area between two moments."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        turn = 2 * math.pi / self.period
        return middle * (end - start) + half / turn * (math.cos(turn * start) - math.cos(turn * end))


@dataclass(frozen=True)
class Replay:
    """What was once recorded: each value holds until the next moment, the last one for good."""

    times: tuple[float, ...]
    values: tuple[float, ...]
    shared: bool = False
    _sums: list[float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sums = [0.0]
        for (start, end), value in zip(pairwise(self.times), self.values, strict=False):
            sums.append(sums[-1] + (end - start) * value)
        object.__setattr__(self, "_sums", sums)

    def at(self, seconds: float) -> float:
        """Return the value at a moment."""
        return self.values[max(0, bisect_right(self.times, seconds) - 1)]

    def _until(self, seconds: float) -> float:
        place = max(0, bisect_right(self.times, seconds) - 1)
        return self._sums[place] + (seconds - self.times[place]) * self.values[place]

    def area(self, start: float, end: float) -> float:
        """Return the area between two moments."""
        return self._until(end) - self._until(start)


def _amount(text: str) -> float:
    value = float(quantity.parse(text.strip()))
    if value < 0:
        raise ValueError(f"{text.strip()} is negative")
    return value


def parse(text: str) -> Curve:
    """Return the curve that a text says; ValueError if it says none."""
    if len(text) > _LONGEST:
        raise ValueError("the text of a curve is too long")
    call = _CALL.match(text)
    if call is None:
        return Constant(_amount(text))
    name, inside = call.groups()
    if name == "shared":
        inner = parse(inside)
        if inner.shared:
            raise ValueError("shared() within shared() makes no sense")
        if isinstance(inner, Constant):
            return Constant(inner.value, True)
        assert isinstance(inner, Sine)
        return Sine(inner.low, inner.high, inner.period, True)
    parts = inside.split(",")
    if name != "sine" or len(parts) != 3:
        raise ValueError(
            f"{name}() with {len(parts)} values is no curve: there are sine(low, high, period) and shared(curve)"
        )
    period = parse_duration(parts[2].strip())
    if period < 1:
        raise ValueError("the period of sine() has to be a second or longer")
    return Sine(_amount(parts[0]), _amount(parts[1]), period)


def read_csv(text: str, column: str, *, shared: bool = False) -> Replay:
    """Return the curve in a column of a CSV file whose first column is seconds; ValueError if it holds none."""
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows or len(rows) > _MOST_ROWS or column not in rows[0] or "seconds" not in rows[0]:
        raise ValueError(f"a replay needs 1 to {_MOST_ROWS} rows with the columns seconds and {column}")
    times = tuple(float(row["seconds"]) for row in rows)
    if not all(math.isfinite(moment) for moment in times) or any(
        end <= start for start, end in pairwise(times)
    ):
        raise ValueError("the seconds of a replay have to go up")
    return Replay(times, tuple(_amount(row[column]) for row in rows), shared)
