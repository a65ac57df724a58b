"""How much an evaluation looks at, beside what upstream counts.

The parts of a list can be one and the same value: ``[x, x]`` of ``[x, x]`` and so on is small to keep, and doubles with
each step for who compares it, flattens it or writes it out. So whoever walks through values says beforehand how much it
is going to look at, and is stopped as if the expression had cost too much.
"""

from __future__ import annotations

import threading

# A text is looked at faster than a list: so many characters are one step.
CHARACTERS = 1024
# Of looking at a value upstream counts a tenth of its length.
_COUNTED = 10


class Exceeded(Exception):
    """The limit was reached."""


class _Work(threading.local):
    left: int = 1 << 62  # outside of evaluations nobody counts


_work = _Work()


def begin(limit: int) -> int:
    """Begin an evaluation, which may be within another one; return what ``end`` takes."""
    before, _work.left = _work.left, limit
    return before


def end(before: int, limit: int) -> int:
    """End an evaluation; return how many steps it took."""
    spent, _work.left = limit - _work.left, before
    return spent


def look_at(steps: int) -> None:
    """Count steps that are going to be taken; Exceeded if they are too many."""
    _work.left -= steps
    if _work.left < 0:
        raise Exceeded


def hidden(steps: int, cost: int) -> int:
    """Return by how much the steps are more than what the cost stands for."""
    return max(0, steps - _COUNTED * cost)
