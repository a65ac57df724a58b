"""Sets of indexes written as text: ``0-3,5``."""

from __future__ import annotations

import re

from pybernetes.api.text import go_format

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}\Z")


def _index(text: str, completions: int) -> int:
    if not _NUMBER.match(text):
        raise ValueError(f"cannot convert string to integer for index: {go_format.quote(text)}")
    if int(text) >= completions:
        raise ValueError(f"too large index: {go_format.quote(text)}")
    return int(text)


def _interval(text: str, completions: int) -> tuple[int, int]:
    limits = text.split("-")
    if len(limits) > 2:
        raise ValueError(
            f"the fragment {go_format.quote(text)} violates the requirement that an index interval can have at most "
            "two parts separated by '-'"
        )
    first = _index(limits[0], completions)
    if len(limits) == 1:
        return first, first
    last = _index(limits[1], completions)
    if first >= last:
        raise ValueError(f"non-increasing order, previous: {first}, current: {last}")
    return first, last


def count(text: str, completions: int) -> int:
    """Return how many indexes there are; raise ValueError if the text is wrong."""
    total, previous = 0, None
    for part in text.split(",") if text else ():
        first, last = _interval(part, completions)
        if previous is not None and previous >= first:
            raise ValueError(f"non-increasing order, previous: {previous}, current: {first}")
        total += last - first + 1
        previous = last
    return total


def _intervals(text: str, completions: int) -> list[tuple[int, int]]:
    """Return the intervals that can be read."""
    intervals = []
    for part in text.split(",") if text else ():
        try:
            intervals.append(_interval(part, completions))
        except ValueError:
            continue
    return intervals


def overlap(completed: str, failed: str, completions: int) -> int | None:
    """Return the first index that is in both, or None."""
    left, right = _intervals(completed, completions), _intervals(failed, completions)
    i = j = 0
    while i < len(left) and j < len(right):
        (a, b), (c, d) = left[i], right[j]
        if a <= d and c <= b:
            return max(a, c)
        if a <= c:
            i += 1
        else:
            j += 1
    return None
