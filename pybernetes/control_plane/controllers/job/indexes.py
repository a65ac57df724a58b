"""Sets of completion indexes, kept as intervals and written as text: ``0,2-5``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from pybernetes.api.resource import Object

_KEY = "batch.kubernetes.io/job-completion-index"


class Indexes:
    """A set of indexes. It does not change: ``with_indexes`` gives another one."""

    __slots__ = ("intervals",)

    def __init__(self, intervals: Iterable[tuple[int, int]] = ()) -> None:
        merged: list[tuple[int, int]] = []
        for first, last in sorted(intervals):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        self.intervals = tuple(merged)

    @classmethod
    def parse(cls, text: str, completions: int) -> Indexes:
        """Parse the indexes below a limit from a text, leaving out parts that cannot be read."""
        intervals = []
        for part in text.split(",") if text else ():
            first, dash, last = part.partition("-")
            if not first.isdecimal() or (dash and not last.isdecimal()):
                continue
            if int(first) < completions:
                intervals.append((int(first), min(int(last) if dash else int(first), completions - 1)))
        return cls(intervals)

    def with_indexes(self, more: Iterable[int]) -> Indexes:
        """Return the union with more indexes."""
        return Indexes([*self.intervals, *((index, index) for index in more)])

    def __or__(self, other: Indexes) -> Indexes:
        return Indexes([*self.intervals, *other.intervals])

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.intervals)

    def __bool__(self) -> bool:
        return bool(self.intervals)

    def __contains__(self, index: int) -> bool:
        place = bisect_right(self.intervals, (index, 2**63)) - 1
        return place >= 0 and index <= self.intervals[place][1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Indexes) and self.intervals == other.intervals

    def __hash__(self) -> int:
        return hash(self.intervals)

    def common(self, other: Indexes) -> int:
        """Return how many indexes are in both."""
        return sum(
            max(0, min(last, end) - max(first, start) + 1)
            for first, last in self.intervals
            for start, end in other.intervals
        )

    def missing(self, limit: int) -> Iterator[int]:
        """Return the indexes below a limit that are not here, in order."""
        candidate = 0
        for first, last in self.intervals:
            yield from range(candidate, min(first, limit))
            candidate = last + 1
        yield from range(candidate, limit)

    def __str__(self) -> str:
        return ",".join(
            str(first) if first == last else f"{first}{',' if last == first + 1 else '-'}{last}"
            for first, last in self.intervals
        )


def index_of(pod: Object) -> int:
    """Return the completion index of a pod, -1 if it has none."""
    text = (pod["metadata"].get("annotations") or {}).get(_KEY, "")
    return int(text) if text.isdecimal() else -1


def has_valid_index(pod: Object, completions: int) -> bool:
    """Return whether a pod has an index that the job asks for."""
    return 0 <= index_of(pod) < completions
