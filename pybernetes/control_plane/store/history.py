"""The events that led to the visible state, as far back as limits allow. No input or output."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from pybernetes.control_plane.store.protocol import Clock, Event, HistoryLimits

# What an event costs beside its values: the event, its record, the key, and their places in tables.
EVENT_OVERHEAD = 400


class History:
    """Events, oldest first, and the revision up to which there are none any more."""

    def __init__(self, clock: Clock, limits: HistoryLimits) -> None:
        self.limits = limits
        self.compacted = 0
        self._clock = clock
        self._events: deque[Event] = deque()
        self._batches: deque[tuple[float, int, int, int]] = deque()  # time, last revision, events, bytes
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._events)

    def add(self, events: Sequence[Event], size: int) -> None:
        """Take in one batch whose values have a size, and forget what is too old or too much."""
        count, now, limits = len(events), self._clock(), self.limits
        size += EVENT_OVERHEAD * count
        self._events.extend(events)
        self._batches.append((now, events[-1].revision, count, size))
        self._bytes += size
        oldest = now - limits.seconds
        while self._batches and (
            self._batches[0][0] < oldest or self._bytes > limits.bytes or len(self._events) > limits.events
        ):
            self._drop_batch()

    def after(self, revision: int) -> Iterator[Event]:
        """Yield what happened after a revision, newest first."""
        for event in reversed(self._events):
            if event.revision <= revision:
                return
            yield event

    def compact(self, revision: int) -> None:
        """Forget what happened up to a revision."""
        while self._batches and self._batches[0][1] <= revision:
            self._drop_batch()
        # A batch that straddles the revision stays in memory: only the promise to serve it ends.
        self.compacted = max(self.compacted, revision)

    def clear(self, revision: int) -> None:
        """Forget everything: history begins anew after a revision."""
        self._events.clear()
        self._batches.clear()
        self._bytes = 0
        self.compacted = revision

    def _drop_batch(self) -> None:
        _, revision, events, size = self._batches.popleft()
        for _ in range(events):
            self._events.popleft()
        self._bytes -= size
        self.compacted = max(self.compacted, revision)
