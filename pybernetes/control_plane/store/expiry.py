"""Deleting records when their time is up: one timer, armed for the earliest expiry."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Awaitable, Callable

from pybernetes.control_plane.store.protocol import Clock, Conflict, NotFound, Record, StoreError, steady

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
_LEAST_ROOM = 256


class Expiry:
    """Calls `delete(key, revision)` for every record that was added and has reached its expiry.

    Expiries are moments of the wall clock, since they outlive the process. From the time that a record is added it is the
    seconds left that count, on a clock that nobody sets: an hour that is skipped or repeated moves none of them.
    """

    def __init__(
        self,
        clock: Clock,
        delete: Callable[[str, int], Awaitable[object]],
        get: Callable[[str], Record | None],
    ) -> None:
        self._wall = clock
        self._clock = steady(clock)
        self._delete = delete
        self._get = get
        self._heap: list[tuple[float, str, int]] = []
        self._room = _LEAST_ROOM
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = 0.0
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def add(self, record: Record) -> None:
        """Note a record that is stored; one that changed since is left alone, since its revision is another."""
        if record.expires:
            if len(self._heap) >= self._room:
                self._sweep()
            due = self._clock() + record.expires - self._wall()
            heapq.heappush(self._heap, (due, record.key, record.revision))
            if self._timer is None or due < self._armed_for:
                self._arm()

    def _sweep(self) -> None:
        """Forget records that are gone or have changed; done when there are twice as many as were left the last time."""
        self._heap = [entry for entry in self._heap if self._is_there(*entry)]
        heapq.heapify(self._heap)
        self._room = max(_LEAST_ROOM, 2 * len(self._heap))

    def _is_there(self, due: float, key: str, revision: int) -> bool:
        record = self._get(key)
        return record is not None and record.revision == revision

    def close(self) -> None:
        """Stop the timer."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._task is not None:
            self._task.cancel()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap and not self._closed and self._task is None:
            self._armed_for = self._heap[0][0]
            delay = max(0.0, self._armed_for - self._clock())
            self._timer = asyncio.get_running_loop().call_later(delay, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._task = asyncio.get_running_loop().create_task(self._expire())

    async def _expire(self) -> None:
        try:
            now = self._clock()
            due: list[tuple[float, str, int]] = []
            while self._heap and self._heap[0][0] <= now:
                due.append(heapq.heappop(self._heap))
            outcomes = await asyncio.gather(
                *(self._delete(key, revision) for _, key, revision in due), return_exceptions=True
            )
            for (_, key, revision), outcome in zip(due, outcomes, strict=True):
                if isinstance(outcome, StoreError) and not isinstance(outcome, NotFound | Conflict):
                    log.warning("cannot delete expired %s, trying again: %s", key, outcome)
                    heapq.heappush(self._heap, (now + RETRY_SECONDS, key, revision))
        finally:
            self._task = None
        self._arm()
