"""What must exist in a cluster is made again when somebody deletes it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.store.protocol import Event, Store, StoreError

log = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0


class Upkeep:
    """Calls ``make`` whenever one of the keys is gone."""

    def __init__(self, store: Store, keys: Iterable[str], make: Callable[[], Awaitable[None]]) -> None:
        self._store, self._keys, self._make = store, tuple(keys), make
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Watches the keys."""
        for key in self._keys:
            self._watch(key)
        self._task = asyncio.create_task(self._run())

    def _watch(self, key: str) -> None:
        def seen(events: Iterable[Event]) -> None:
            if any(event.record is None for event in events):
                self._wanted.set()

        def closed(error: StoreError | None) -> None:
            if error is not None:
                self._watch(key)
                self._wanted.set()

        self._store.watch(key, 0, seen, closed=closed)

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._make()
            except (StoreError, StatusError) as error:
                log.warning("cannot make what must exist: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)
                self._wanted.set()

    async def close(self) -> None:
        """Stops watching."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
