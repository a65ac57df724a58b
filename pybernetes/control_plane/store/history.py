"""The events that led to the visible state, as far back as limits allow. No input or output.

Who asks for a kind or a namespace walks over the events of that alone: others can make very many.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, takewhile
from operator import attrgetter

from pybernetes.control_plane.store.protocol import Clock, Event, HistoryLimits
from pybernetes.lib.memory.forgetting import forgotten

# How many slashes a directory has at least whose events are found without looking at all others: /registry/pods/.
_SLASHES = 3
# What an event costs beside its values: the event, its record, the key, and their places in tables.
EVENT_OVERHEAD = 400
_FEW = 200
_REVISION = attrgetter("revision")
_NOTHING: deque[Event] = deque()


class History:
    """Events, oldest first, and the revision up to which there are none any more."""

    def __init__(self, clock: Clock, limits: HistoryLimits) -> None:
        self.limits = limits
        self.compacted = 0
        self._clock = clock
        self._events: deque[Event] = deque()
        self._batches: deque[tuple[float, int, int, int]] = deque()  # time, last revision, events, bytes
        self._bytes = 0
        self._below: dict[str, deque[Event]] = {}  # by directory, as long as there are some

    def __len__(self) -> int:
        return len(self._events)

    def add(self, events: Sequence[Event], size: int) -> None:
        """Take in one batch whose values have a size, and forget what is too old or too much."""
        count, now, limits = len(events), self._clock(), self.limits
        size += EVENT_OVERHEAD * count
        self._events.extend(events)
        for event in events:
            for directory in _directories(event.key[: event.key.rfind("/") + 1]):
                below = self._below.get(directory)
                if below is None:
                    below = self._below[directory] = deque()
                below.append(event)
        self._batches.append((now, events[-1].revision, count, size))
        self._bytes += size
        oldest = now - limits.seconds
        while self._batches and (
            self._batches[0][0] < oldest or self._bytes > limits.bytes or len(self._events) > limits.events
        ):
            self._drop_batch()

    def after(self, revision: int, prefix: str = "") -> list[Event]:
        """Return what happened after a revision to the keys with a prefix, oldest first."""
        events = self._near(prefix)
        recent = list(islice(takewhile(lambda event: event.revision > revision, reversed(events)), _FEW))
        recent.reverse()
        if len(recent) == _FEW:  # looked at one by one, many would take long
            everything = list(events)
            recent = everything[bisect_right(everything, revision, key=_REVISION) :]
        if prefix.endswith("/") and prefix.count("/") >= _SLASHES:
            return recent
        return [event for event in recent if event.key.startswith(prefix)]

    def last(self, key: str) -> Event | None:
        """Return the last change of a key, if it is still known."""
        return next((event for event in reversed(self._near(key)) if event.key == key), None)

    def _near(self, prefix: str) -> deque[Event]:
        """Return the events among which those of all keys with a prefix are."""
        directory = prefix[: prefix.rfind("/") + 1]
        return self._below.get(directory, _NOTHING) if directory.count("/") >= _SLASHES else self._events

    def compact(self, revision: int) -> None:
        """Forget what happened up to a revision."""
        while self._batches and self._batches[0][1] <= revision:
            self._drop_batch()
        # A batch that straddles the revision stays in memory: only the promise to serve it ends.
        self.compacted = max(self.compacted, revision)

    def clear(self, revision: int) -> None:
        """Forget everything: history begins anew after a revision."""
        self._events.clear()
        self._below.clear()
        self._batches.clear()
        self._bytes = 0
        self.compacted = revision

    def _drop_batch(self) -> None:
        _, revision, events, size = self._batches.popleft()
        for _ in range(events):
            event = self._events.popleft()
            for directory in _directories(event.key[: event.key.rfind("/") + 1]):
                below = self._below[directory]
                below.popleft()  # which is this one: they are in the same order
                if not below:
                    del self._below[directory]
        self._bytes -= size
        self.compacted = max(self.compacted, revision)


@forgotten
@lru_cache(4096)
def _directories(directory: str) -> tuple[str, ...]:
    """Return a directory and those above it, as far as their events are kept apart."""
    ends = [place + 1 for place, char in enumerate(directory) if char == "/"]
    return tuple(directory[:end] for end in ends[_SLASHES - 1 :])
