"""Tells when the content of a file may have changed: at once where the kernel says so, and once a minute in any case.

A file may be a link into a folder that is swapped as a whole, as kubelets mount config maps: the kernel tells of its own
folder only, so that a look once a minute finds the rest.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from pybernetes.lib.kernel.inotify import FolderWatcher

log = logging.getLogger(__name__)
SECONDS = 60.0


class FileFollower:
    """Calls ``look`` whenever the file may have changed; it compares for itself, and never two calls are under way."""

    def __init__(self, path: Path, look: Callable[[], Awaitable[object]], seconds: float = SECONDS) -> None:
        self._path, self._look, self._seconds = path, look, seconds
        self._changed = asyncio.Event()
        self._watcher: FolderWatcher | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to follow."""
        with suppress(OSError):  # without the kernel's help it takes a minute
            self._watcher = FolderWatcher(self._path.parent, self._changed.set)
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._changed.wait()
            self._changed.clear()
            try:
                await self._look()
            except Exception:
                log.exception("looking at %s failed", self._path)

    async def close(self) -> None:
        """Stop following."""
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
