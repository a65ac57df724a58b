"""Whether what clients saw of one object could have happened one operation at a time (Wing and Gong's search).

The object is a register that is read and changed by compare-and-swap. An operation takes effect at one moment between its
begin and its end; one whose answer was lost may take effect at any later time, or never. The search tries every order that the
times allow, and remembers the states that it has been in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

READ, SWAP = "read", "swap"
DONE, REFUSED, UNKNOWN = "done", "refused", "unknown"


@dataclass(frozen=True, slots=True)
class Operation:
    """What one client did: a read of ``value``, or a swap of ``expected`` for ``value``."""

    client: str
    kind: str
    begin: float
    end: float
    value: str
    expected: str = ""
    outcome: str = DONE


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the search is: every operation before ``first`` has its place, and so have those of the bits after it."""

    first: int
    bits: int
    state: str


def violation(operations: Sequence[Operation], initial: str) -> Operation | None:
    """Return None if there is an order that explains everything; else the first operation that no order explains."""
    return _Search(operations, initial).run()


class _Search:
    def __init__(self, operations: Sequence[Operation], initial: str) -> None:
        # A read without an answer says nothing, and a swap without one nothing either if nobody wrote what it expects.
        written = {initial, *(operation.value for operation in operations if operation.kind == SWAP)}
        known = (
            operation
            for operation in operations
            if operation.outcome != UNKNOWN or (operation.kind == SWAP and operation.expected in written)
        )
        self.initial = initial
        self.ordered = sorted(known, key=lambda operation: operation.begin)
        self.ends = [
            math.inf if operation.outcome == UNKNOWN else operation.end for operation in self.ordered
        ]
        # Where no value is written twice, a state that was left does not come back: what expected it can be forgotten.
        swaps = [operation.value for operation in self.ordered if operation.kind == SWAP]
        self._uncertain: dict[str, list[int]] = {}
        if len({initial, *swaps}) == len(swaps) + 1:
            for index, operation in enumerate(self.ordered):
                if operation.outcome == UNKNOWN:
                    self._uncertain.setdefault(operation.expected, []).append(index)

    def run(self) -> Operation | None:
        start = _Place(0, 0, self.initial)
        seen, left, furthest = {start}, [start], self._first_missing(start)
        while left:
            place = left.pop()
            missing = self._first_missing(place)
            if missing == len(self.ordered):
                return None
            furthest = max(furthest, missing)
            for following in self._next(place):
                if following not in seen:
                    seen.add(following)
                    left.append(following)
        return self.ordered[furthest] if self.ordered else None

    def _first_missing(self, place: _Place) -> int:
        """Return the first operation without a place that must have one; their number if there is none."""
        for index in range(place.first, len(self.ordered)):
            if not place.bits >> (index - place.first) & 1 and self.ordered[index].outcome != UNKNOWN:
                return index
        return len(self.ordered)

    def _next(self, place: _Place) -> Iterator[_Place]:
        """Yield where the search can go: an operation may be next if none that has no place ended before it began."""
        earliest = math.inf
        for index in range(place.first, len(self.ordered)):
            if place.bits >> (index - place.first) & 1:
                continue
            operation = self.ordered[index]
            if operation.begin > earliest:
                return
            earliest = min(earliest, self.ends[index])
            state = _applied(operation, place.state)
            if state is not None:
                yield self._with(place, index, state)

    def _with(self, place: _Place, index: int, state: str) -> _Place:
        """Return the place after one more operation; what all before have is not kept as bits."""
        first, bits = place.first, place.bits | 1 << (index - place.first)
        if state != place.state:
            for other in self._uncertain.get(place.state, ()):
                if other >= first:
                    bits |= 1 << (other - first)
        while bits & 1:
            bits >>= 1
            first += 1
        return _Place(first, bits, state)


def _applied(operation: Operation, state: str) -> str | None:
    """Return the state after an operation; None if it could not have gone so in this state."""
    if operation.kind == READ:
        return state if state == operation.value else None
    if operation.outcome == REFUSED:
        return None if state == operation.expected else state
    return operation.value if state == operation.expected else None
