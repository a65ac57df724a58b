"""Work that is done again whenever somebody asks for it, and once more if the store was not there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pybernetes.control_plane.store.protocol import StoreError

log = logging.getLogger(__name__)
_RETRY_SECONDS = 5.0


class Keeper:
    """Calls ``sync`` in a task of its own after each ``ask``; ``purpose`` says what fails when it fails."""

    def __init__(self, sync: Callable[[], Awaitable[None]], purpose: str) -> None:
        self._sync, self._purpose = sync, purpose
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def ask(self) -> None:
        """Has the work done soon; several asks at once are one."""
        self._wanted.set()

    def start(self) -> None:
        """Works from now on."""
        self._task = asyncio.create_task(self._run())

    def close(self) -> None:
        """Stops working."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._sync()
            except StoreError as error:
                log.warning("cannot %s: %s", self._purpose, error)
                await asyncio.sleep(_RETRY_SECONDS)
                self._wanted.set()
