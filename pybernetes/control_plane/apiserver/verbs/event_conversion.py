"""Watches of kinds whose records a webhook converts: changes wait until they are ready to be read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.store.protocol import Damaged, Event, Store

Sink = Callable[[list[Event]], None]


class EventConverter:
    """Passes changes on in their order, each batch once its records are converted."""

    def __init__(
        self, kind: Kind, sink: Sink, failed: Callable[[errors.StatusError], None], store: Store
    ) -> None:
        self._kind, self._sink, self._failed, self._store = kind, sink, failed, store
        self._waiting: deque[list[Event]] = deque()
        self._task: asyncio.Task[None] | None = None

    def take(self, events: list[Event]) -> None:
        """Take a batch of changes from the store."""
        self._waiting.append(events)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._pass_on())

    async def _pass_on(self) -> None:
        while self._waiting:
            events = self._waiting.popleft()
            records = [record for event in events for record in (event.record, event.previous) if record]
            try:
                await self._kind.convert(records)
                self._sink(events)
            except Damaged as error:
                self._end(damage.watch_status(error, self._store))
            except errors.StatusError as error:
                self._end(error)

    def _end(self, error: errors.StatusError) -> None:
        self._waiting.clear()
        self._failed(error)
