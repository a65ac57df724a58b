"""Questions that wait, by who asked: all take turns, and whoever asks most loses his oldest first. Pure."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
_SOURCE_BYTES = 800  # what a source takes in memory, beside its questions
_SOME = 16


class FairQueue(Generic[T]):
    """A queue for each source, which together take so many bytes at most.

    What is lost for want of room is the oldest of the source that has most. That one is looked for among a few at a time, so
    that thousands of invented sources cost no more than one.
    """

    def __init__(self, most_bytes: int, dropped: Callable[[T], object] = lambda item: None) -> None:
        self._most, self._dropped = most_bytes, dropped
        self._queues: dict[str, deque[tuple[T, int]]] = {}  # in the order of their turns
        self._largest = ""
        self.bytes = 0

    def __bool__(self) -> bool:
        return bool(self._queues)

    def put(self, source: str, item: T, size: int) -> None:
        """Queue an item."""
        queue = self._queues.get(source)
        if queue is None:
            queue = self._queues[source] = deque()
            self.bytes += _SOURCE_BYTES
        queue.append((item, size))
        self.bytes += size
        largest = self._queues.get(self._largest)
        if largest is not None and len(queue) > len(largest):
            self._largest = source
        while self.bytes > self._most:
            if self._largest not in self._queues:
                some = itertools.islice(self._queues, _SOME)
                self._largest = max(some, key=lambda source: len(self._queues[source]))
            self._dropped(self._first(self._largest))

    def take(self, may: Callable[[str], bool] = lambda source: True) -> T | None:
        """Return the oldest of the source whose turn it is, of those that may have one; None if nothing waits."""
        source = next(filter(may, self._queues), None)
        if source is None:
            return None
        item = self._first(source)
        queue = self._queues.pop(source, None)
        if queue is not None:  # its next turn comes after all others'
            self._queues[source] = queue
        return item

    def _first(self, source: str) -> T:
        queue = self._queues[source]
        item, size = queue.popleft()
        self.bytes -= size
        if not queue:
            del self._queues[source]
            self.bytes -= _SOURCE_BYTES
        return item

    def clear(self) -> None:
        """Drop everything."""
        while (item := self.take()) is not None:
            self._dropped(item)
