"""Work that is done again whenever somebody asks for it, and tried again if the store was not there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.store.protocol import Damaged, Event, Store, StoreError, Watch

log = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0


class RetryingSync:
    """Calls ``sync`` in a task of its own after each ``ask``; ``purpose`` says what fails when it fails."""

    def __init__(self, sync: Callable[[], Awaitable[None]], purpose: str) -> None:
        self._sync, self._purpose = sync, purpose
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._watches: dict[str, Watch] = {}

    def ask(self) -> None:
        """Have the work done soon; asking several times at once is asking once."""
        self._wanted.set()

    def start(self) -> None:
        """Start to work."""
        self._task = asyncio.create_task(self._run())

    def follow(self, store: Store, keys: Iterable[str], *, deletions: bool = False) -> None:
        """Ask at every change of the keys, or at their deletions alone."""

        def seen(events: Iterable[Event]) -> None:
            if not deletions or any(event.record is None for event in events):
                self.ask()

        def watch(key: str) -> None:
            def closed(error: StoreError | None) -> None:
                if error is not None:
                    watch(key)
                    self.ask()

            self._watches[key] = store.watch(key, 0, seen, closed=closed)

        for key in keys:
            watch(key)

    async def close(self) -> None:
        """Stop following and working."""
        for watch in self._watches.values():
            watch.close()
        self._watches.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._sync()
            except Damaged as error:
                log.error("cannot %s: %s", self._purpose, error)  # until it is replaced, which asks again
            except (StoreError, StatusError) as error:
                log.warning("cannot %s: %s", self._purpose, error)
                await asyncio.sleep(_RETRY_SECONDS)
                self._wanted.set()
