"""Whose work is next: groups take turns, in each group its owners, and of an owner the request that began first.

Knows neither threads nor time.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from heapq import heappop, heappush
from itertools import count
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class Owner(NamedTuple):
    """Whom work is done for."""

    group: str = ""
    name: str = ""


class FairTurns(Generic[Item]):
    """Work that waits. An owner has one piece of it done at a time: ``take`` gives it, ``done`` ends it."""

    def __init__(self) -> None:
        # What waits for each owner who waits or has work done, the oldest request first: what is begun is ended, and holds
        # memory no longer, before the next one begins.
        self._waiting: dict[Owner, list[tuple[int, int, Item]]] = {}
        self._turns: OrderedDict[str, deque[Owner]] = OrderedDict()
        self._count = count()

    def put(self, owner: Owner, request: int, item: Item) -> bool:
        """Add a piece of work; return whether ``take`` is to be called once more."""
        is_new = owner not in self._waiting
        heappush(self._waiting.setdefault(owner, []), (request, next(self._count), item))
        if is_new:
            self._turns.setdefault(owner.group, deque()).append(owner)
        return is_new

    def take(self) -> tuple[Owner, Item]:
        """Return the work whose turn it is, and whose it is."""
        group, owners = next(iter(self._turns.items()))
        owner = owners.popleft()
        self._turns.move_to_end(group)
        if not owners:
            del self._turns[group]
        return owner, heappop(self._waiting[owner])[2]

    def done(self, owner: Owner) -> bool:
        """Note that a piece of work is done; return whether ``take`` is to be called once more."""
        if self._waiting[owner]:
            self._turns.setdefault(owner.group, deque()).append(owner)
            return True
        del self._waiting[owner]
        return False
