"""Answers that clients have not taken yet: how much memory they hold, and who is sent away if it is too much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Sized
from typing import Protocol


class Holder(Protocol):
    """A connection with an answer that waits for its client."""

    def abort(self) -> None:
        """Drop the client at once."""


class Written:
    """Bytes that were written for one client, of which no more is known than how many they are."""

    __slots__ = ("_size",)

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size


class _Ledger:
    """Bytes that are held; those that several hold count once."""

    def __init__(self) -> None:
        self.size = 0
        self._times: Counter[int] = Counter()

    def add(self, parts: Sequence[Sized]) -> None:
        for part in parts:
            self._times[id(part)] += 1
            if self._times[id(part)] == 1:
                self.size += len(part)

    def remove(self, parts: Sequence[Sized]) -> None:
        for part in parts:
            self._times[id(part)] -= 1
            if not self._times[id(part)]:
                del self._times[id(part)]
                self.size -= len(part)


class Unread:
    """What all connections of a server hold, in total and for each owner.

    Who goes is the one that has waited longest: of the owner that holds too much, or of the one that holds most if all
    together is too much. The last one of an owner, and of all, stays: one answer may be larger than any bound.
    """

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most, self._most_of_one = most, most_of_one
        self._total = _Ledger()
        self._owners: dict[str, _Ledger] = {}
        self._holders: dict[str, dict[Holder, list[Sized]]] = {}
        self._owner_of: dict[Holder, str] = {}
        self.ended = 0

    @property
    def size(self) -> int:
        """How many bytes are held."""
        return self._total.size

    def hold(self, holder: Holder, owner: str, parts: Sequence[Sized]) -> None:
        """Note what a connection holds for its client, beside what it holds already, until it is released."""
        owner = self._owner_of.setdefault(holder, owner)
        self._holders.setdefault(owner, {}).setdefault(holder, []).extend(parts)
        self._total.add(parts)
        ledger = self._owners.setdefault(owner, _Ledger())
        ledger.add(parts)
        while ledger.size > self._most_of_one and len(self._holders[owner]) > 1:
            self._end(owner)
        while self._total.size > self._most and len(self._owner_of) > 1:
            self._end(max(self._owners, key=lambda name: self._owners[name].size))

    def release(self, holder: Holder) -> None:
        """Note that a connection holds nothing any more."""
        owner = self._owner_of.pop(holder, None)
        if owner is None:
            return
        parts = self._holders[owner].pop(holder)
        self._total.remove(parts)
        self._owners[owner].remove(parts)
        if not self._holders[owner]:
            del self._holders[owner], self._owners[owner]

    def _end(self, owner: str) -> None:
        slowest = next(iter(self._holders[owner]))
        self.release(slowest)
        self.ended += 1
        slowest.abort()
