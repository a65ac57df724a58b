"""Changes that cannot be shown at once: a webhook has to convert them, or they are so large that reading them takes long."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.store.protocol import Damaged, Event, Record, Store
from pybernetes.lib.event_loop import off_loop

Sink = Callable[[list[Event]], None]
# Reads of a change what its watch needs, so that it is there when it is asked for; the result is held until then.
Prepare = Callable[[Event], object]


class EventPreparation:
    """Passes changes on in their order, each batch once its records are converted, and read where that takes long."""

    def __init__(
        self,
        kind: Kind,
        sink: Sink,
        failed: Callable[[errors.StatusError], None],
        store: Store,
        prepare: Prepare | None,
    ) -> None:
        self._kind, self._sink, self._failed, self._store, self._prepare = kind, sink, failed, store, prepare
        self._waiting: deque[list[Event]] = deque()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether changes wait."""
        return self._task is not None and not self._task.done()

    def take(self, events: list[Event]) -> None:
        """Take a batch of changes from the store."""
        is_idle = not self.is_busy
        if is_idle and not self._kind.awaits_webhook and not _large(events):
            self._sink(events)
            return
        self._waiting.append(events)
        if is_idle:
            self._task = asyncio.get_running_loop().create_task(self._pass_on())

    async def _pass_on(self) -> None:
        while self._waiting:
            events = self._waiting.popleft()
            try:
                if self._kind.awaits_webhook:
                    await self._kind.convert(_records(events))
                large = self._prepare is not None and _large(events)
                held = await off_loop.beside(self._prepared, large) if large else None
                self._sink(events)
                del held
            except Damaged as error:
                self._end(damage.watch_status(error, self._store))
            except errors.StatusError as error:
                self._end(error)

    def _prepared(self, events: list[Event]) -> list[object]:
        assert self._prepare is not None
        return [self._prepare(event) for event in events]

    def _end(self, error: errors.StatusError) -> None:
        self._waiting.clear()
        self._failed(error)


def _records(events: Iterable[Event]) -> list[Record]:
    return [record for event in events for record in (event.record, event.previous) if record is not None]


def _large(events: list[Event]) -> list[Event]:
    """Return the changes that take long to read; none if one of them is damaged, which the sink finds out."""
    most = off_loop.LARGE
    try:
        return [
            event
            for event in events
            if (event.record is not None and len(event.record.value) > most)
            or (event.previous is not None and len(event.previous.value) > most)
        ]
    except Damaged:
        return []
