"""The queue of keys in front of a controller's workers.

A key that is waiting is not queued twice, and one that is being worked on is not handed to a second worker: it
waits until the first is done. Keys that failed come back later each time.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque

from pybernetes.lib.clock import Clock, Timer
from pybernetes.runtime.metrics import QueueMetrics

FIRST_DELAY = 0.005
LONGEST_DELAY = 1000.0
# Moments that no longer count and may stay on the heap beside as many as count.
_STALE = 64


class Closed(Exception):
    """The queue was closed and is empty."""


class Queue:
    """Keys that wait for a worker."""

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        first_delay: float = FIRST_DELAY,
        longest_delay: float = LONGEST_DELAY,
        metrics: QueueMetrics | None = None,
    ) -> None:
        self._clock = clock or Clock()
        self._first, self._longest = first_delay, longest_delay
        self.metrics = metrics or QueueMetrics("", self._clock)
        self._ready: deque[str] = deque()
        self._dirty: dict[str, float] = {}  # waiting, or to be done again: since when
        self._working: dict[str, float] = {}  # in a worker's hands: since when
        self._held: set[str] = set()  # worked on, but not to be handed out yet
        self._failures: dict[str, int] = {}
        self._later: list[tuple[float, str]] = []
        self._due: dict[str, float] = {}  # the moment that counts for a key; others on the heap are stale
        self._timer: Timer | None = None
        self._timer_at = 0.0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self.closed = False
        self.metrics.watch(self._ready, self._working)

    def __len__(self) -> int:
        return len(self._ready)

    def __contains__(self, key: str) -> bool:
        return key in self._dirty

    def add(self, key: str) -> None:
        """Add a key."""
        if key in self._dirty or self.closed:
            return
        self._dirty[key] = self._clock.monotonic()
        self.metrics.adds += 1
        if key not in self._working and key not in self._held:
            self._ready.append(key)
            self._wake()

    def add_after(self, key: str, seconds: float) -> None:
        """Add a key after some seconds; the earliest moment that was asked for counts."""
        if seconds <= 0:
            self.add(key)
            return
        due = self._clock.monotonic() + seconds
        known = self._due.get(key)
        if self.closed or (known is not None and known <= due):
            return
        self._due[key] = due
        heapq.heappush(self._later, (due, key))
        self._schedule()

    def drop_later(self, key: str) -> None:
        """Forget when a key was to come back: what it names is gone, and its moment may be a year away."""
        if self._due.pop(key, None) is not None and len(self._later) > 2 * len(self._due) + _STALE:
            self._later = [(due, other) for other, due in self._due.items()]
            heapq.heapify(self._later)

    def add_rate_limited(self, key: str) -> float:
        """Add a key that failed again, later each time; return the delay in seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self.metrics.retries += 1
        delay = min(self._first * 2.0 ** min(failures, 64), self._longest)
        self.add_after(key, delay)
        return delay

    def forget(self, key: str) -> None:
        """Forget the failures of a key."""
        self._failures.pop(key, None)

    def failures(self, key: str) -> int:
        """Return how often a key failed in a row."""
        return self._failures.get(key, 0)

    async def get(self) -> str:
        """Return the next key, which is the caller's until ``done``; raise Closed when there will never be one."""
        while not self._ready:
            if self.closed:
                raise Closed
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()  # somebody else must have what was meant for this one
                raise
        key = self._ready.popleft()
        now = self._clock.monotonic()
        self.metrics.waited(now - self._dirty.pop(key))
        self._working[key] = now
        return key

    def hold(self, key: str) -> None:
        """End the work on a key, but hand it to nobody before ``done``."""
        self.metrics.worked(self._clock.monotonic() - self._working.pop(key))
        self._held.add(key)

    def done(self, key: str) -> None:
        """Give a key back; if it was added meanwhile, it is handed out again."""
        if key in self._held:
            self._held.discard(key)
        else:
            self.metrics.worked(self._clock.monotonic() - self._working.pop(key))
        if key in self._dirty:
            self._ready.append(key)
            self._wake()
        elif self.closed:
            self._wake()

    def close(self) -> None:
        """Take no more keys; those that wait are still handed out."""
        self.closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._later.clear()
        self._due.clear()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _schedule(self) -> None:
        due = self._later[0][0]
        if self._timer is not None:
            if self._timer_at <= due:
                return
            self._timer.cancel()
        self._timer_at = due
        self._timer = self._clock.call_later(max(0.0, due - self._clock.monotonic()), self._ripen)

    def _ripen(self) -> None:
        """Add the keys that are due."""
        self._timer = None
        now = self._clock.monotonic()
        while self._later and self._later[0][0] <= now:
            due, key = heapq.heappop(self._later)
            if self._due.get(key) == due:
                del self._due[key]
                self.add(key)
        if self._later:
            self._schedule()
