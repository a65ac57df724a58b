"""One step as it is shown, and what can be said of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

API_SERVER, SCHEDULER, KUBELET = "kube-apiserver", "kube-scheduler", "kubelet"
# Which of the ten steps of docs/architecture.md each belongs to.
NUMBERS = {
    "request": 1, "admission": 2, "write": 2, "watch": 3, "queue": 3, "filter": 4, "score": 4, "schedule": 4, "bind": 5,
    "node watch": 6, "prepare": 7, "volumes": 7, "network": 7, "sandbox": 7, "wait": 7, "image": 7, "create": 7,
    "start": 8, "status": 9, "status write": 10,
}  # fmt: skip


@dataclass(slots=True)
class Row:
    """A step: who did it and when, in seconds since the epoch; without an end it is under way.

    ``source`` says where the times are from: the component itself (mark), or whatever else tells them; ``precise``
    whether they are finer than a second, and ``exact_end`` whether at least the end is.
    """

    name: str
    component: str
    begin: float
    end: float | None
    detail: str = ""
    source: str = "mark"
    precise: bool = True
    exact_end: bool = True

    @property
    def number(self) -> int:
        """Which of the ten steps it belongs to."""
        return NUMBERS[self.name]

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "number": self.number, "name": self.name, "component": self.component, "begin": rounded(self.begin),
            "seconds": rounded(self.seconds), "detail": self.detail, "source": self.source, "precise": self.precise,
        }  # fmt: skip

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        return None if self.end is None else self.end - self.begin


def rounded(seconds: float | None) -> float | None:
    """Return a time in microseconds: what is finer is not true."""
    return None if seconds is None else round(seconds, 6)


def clipped(rows: Sequence[Row]) -> list[Row]:
    """Return steps that do not overlap: each begins when the one before it ended, or later."""
    result: list[Row] = []
    at = float("-inf")
    for row in rows:
        begin = max(row.begin, at)
        end = None if row.end is None else max(row.end, begin)
        result.append(replace(row, begin=begin, end=end))
        at = begin if end is None else end
    return result


def covered(rows: Sequence[Row], begin: float, end: float) -> float:
    """Return how many seconds between two moments steps that do not overlap account for."""
    return sum(max(0.0, min(row.end, end) - max(row.begin, begin)) for row in rows if row.end is not None)
