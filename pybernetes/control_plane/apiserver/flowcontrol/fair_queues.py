"""Fair queues: who is next among the flows of one priority level. Knows neither time nor requests.

Every flow is dealt a hand of queues by its name and waits in the one of them with the least work, so that a
flow that floods its hand leaves most other flows a queue of their own (shuffle sharding). Queues take turns by
virtual time: each is charged for what its requests cost, and the one that has had the least is next.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Queue(Generic[Item]):
    """One queue and what it has had so far."""

    __slots__ = ("had", "items")

    def __init__(self) -> None:
        self.items: deque[Item] = deque()
        self.had = 0.0


class FairQueues(Generic[Item]):
    """The queues of a level."""

    def __init__(self, count: int, hand: int, length: int) -> None:
        self._queues = [Queue[Item]() for _ in range(count)]
        self._hand, self._length = hand, length
        self._hands: dict[str, list[Queue[Item]]] = {}
        self._active: set[Queue[Item]] = set()
        self._now = 0.0  # the virtual time: what the queue that was served last had had
        self.waiting = 0

    def put(self, flow: str, item: Item) -> Queue[Item] | None:
        """Queue an item of a flow; None if there is no room for it."""
        queue = min(self._dealt(flow), key=lambda queue: (len(queue.items), queue.had))
        if len(queue.items) >= self._length:
            return None
        if not queue.items:
            # A queue does not save up turns while it is empty.
            queue.had = max(queue.had, self._now)
            self._active.add(queue)
        queue.items.append(item)
        self.waiting += 1
        return queue

    def items(self) -> Iterator[Item]:
        """Return everything that waits, in no order."""
        return chain.from_iterable(queue.items for queue in self._active)

    def take(self) -> tuple[Item, Queue[Item]]:
        """Return the item whose turn it is, and the queue to charge for it."""
        queue = min(self._active, key=lambda queue: queue.had)
        self._now = queue.had
        item = queue.items.popleft()
        self._left(queue)
        return item, queue

    def drop(self, queue: Queue[Item], item: Item) -> bool:
        """Take an item out that waits no longer; False if it was taken before."""
        try:
            queue.items.remove(item)
        except ValueError:
            return False
        self._left(queue)
        return True

    def _left(self, queue: Queue[Item]) -> None:
        self.waiting -= 1
        if not queue.items:
            self._active.discard(queue)

    def _dealt(self, flow: str) -> list[Queue[Item]]:
        hand = self._hands.get(flow)
        if hand is None:
            if len(self._hands) > 10_000:
                self._hands.clear()
            hand = self._hands[flow] = [
                self._queues[number] for number in deal(flow, len(self._queues), self._hand)
            ]
        return hand


def deal(flow: str, deck: int, hand: int) -> list[int]:
    """Return the queues of a flow: different numbers below ``deck``, the same for the same name."""
    value = int.from_bytes(hashlib.blake2b(flow.encode(), digest_size=32).digest())
    left = list(range(deck))
    dealt = []
    for size in range(deck, deck - min(hand, deck), -1):
        value, place = divmod(value, size)
        dealt.append(left.pop(place))
    return dealt
