"""Time as something that is passed in: the real one, or one that a test moves."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that is due later."""

    def cancel(self) -> None:
        """Make sure that it does not happen."""


class Clock:
    """The real time. Everything that looks at the time or sleeps gets a clock."""

    def now(self) -> float:
        """Return the seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never go back, for measuring durations."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call a function after a while, unless the timer is cancelled before."""
        return asyncio.get_running_loop().call_later(seconds, callback)


class ManualClock(Clock):
    """A time that stands still until ``advance`` is called."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._start = now
        self._elapsed = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        """Return the seconds since the epoch, as set."""
        return self._start + self._elapsed

    def monotonic(self) -> float:
        """Return the seconds that were advanced so far."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced so far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        done = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), done))
        await done

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call a function once the clock was advanced so far."""
        done = asyncio.get_running_loop().create_future()
        done.add_done_callback(lambda future: None if future.cancelled() else callback())
        heapq.heappush(self._sleepers, (self._elapsed + max(0.0, seconds), next(self._order), done))
        return _ManualTimer(done)

    async def advance(self, seconds: float) -> None:
        """Move the time forward, waking sleepers one after the other, each at its own moment."""
        target = self._elapsed + seconds
        await _settle()
        while self._sleepers and self._sleepers[0][0] <= target:
            moment, _, done = heapq.heappop(self._sleepers)
            self._elapsed = max(self._elapsed, moment)
            if not done.done():
                done.set_result(None)
            await _settle()
        self._elapsed = target

    def jump(self, seconds: float) -> None:
        """Set the time of day forward or back, as an administrator does: no time passes."""
        self._start += seconds

    @property
    def sleepers(self) -> int:
        """How many tasks wait for the time to pass."""
        return sum(not done.done() for _, _, done in self._sleepers)


class _ManualTimer:
    def __init__(self, future: asyncio.Future[None]) -> None:
        self._future = future

    def cancel(self) -> None:
        self._future.cancel()


async def _settle() -> None:
    """Let the tasks that can run now do so; a few turns cover tasks that wake other tasks."""
    for _ in range(10):
        await asyncio.sleep(0)
