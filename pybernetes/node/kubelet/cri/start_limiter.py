"""Limits how many sandboxes and containers start at the same time, and who is next.

If all started at once, all would be late. One after the other, the first are running while the last still wait,
and those are not later than they would have been.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pybernetes.lib.clock import Clock

# The further a pod has come, the sooner it gets a slot.
START, CREATE, SANDBOX = 0, 1, 2
_HELD_SECONDS = 3.0  # whoever takes longer waits for something other than the CPU


class StartLimiter:
    """A limited number of slots, given to the most urgent first and then in order."""

    def __init__(self, clock: Clock, slots: int = 0) -> None:
        self._clock = clock
        self._free = slots or max(8, 4 * (os.cpu_count() or 1))
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def slot(self, urgency: int) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the end of the block, but not longer than a few seconds."""
        if self._free:
            self._free -= 1
        else:
            await self._queue(urgency)
        given_back = False

        def give_back() -> None:
            nonlocal given_back
            if not given_back:
                given_back = True
                self._pass_on()

        timer = self._clock.call_later(_HELD_SECONDS, give_back)
        try:
            yield
        finally:
            timer.cancel()
            give_back()

    async def _queue(self, urgency: int) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (urgency, next(self._order), future))
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():  # the slot was given at the same moment
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            future = heapq.heappop(self._waiting)[2]
            if not future.done():
                future.set_result(None)
                return
        self._free += 1
