"""Rotates the logs of containers: by size, with a limited number of files for each container, old ones compressed.

``0.log`` is written; ``0.log.20260131-120000`` was written before it; older ones end in ``.gz``.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pybernetes.lib.clock import Clock
from pybernetes.lib.files.regular import open_regular
from pybernetes.node.kubelet.containers import logs
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun

log = logging.getLogger(__name__)
_TEMPORARY, _PACKED = ".tmp", ".gz"
_STAMP = "%Y%m%d-%H%M%S"


def leftovers(files: Iterable[str]) -> list[str]:
    """Return the files of an interrupted rotation: half compressed, or compressed and still there."""
    present = set(files)
    return sorted(
        file
        for file in present
        if file.endswith(_TEMPORARY) or (not file.endswith(_PACKED) and file + _PACKED in present)
    )


def excess(files: Iterable[str], limit: int) -> list[str]:
    """Return the oldest files to remove, so that ``limit`` are left with the current log and the one being rotated."""
    ordered = sorted(files)
    return ordered[: max(0, len(ordered) - max(0, limit - 2))]


def pack(folder: int, name: str) -> None:
    """Replace a file of a folder by its compressed form."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open_regular(folder, name) as source:
        temporary = os.open(name + _TEMPORARY, flags, 0o600, dir_fd=folder)
        with open(temporary, "wb") as raw, gzip.GzipFile(name, "wb", fileobj=raw) as target:
            os.fchmod(temporary, os.fstat(source.fileno()).st_mode & 0o777)
            shutil.copyfileobj(source, target)
    os.rename(name + _TEMPORARY, name + _PACKED, src_dir_fd=folder, dst_dir_fd=folder)
    os.unlink(name, dir_fd=folder)


class LogRotation:
    """Checks the logs of running containers from time to time."""

    def __init__(
        self,
        cri: CriClient,
        clock: Clock,
        runs: Callable[[], Iterable[ContainerRun]],
        *,
        size: int,
        files: int,
        seconds: float,
        workers: int = 1,
        links: Path | None = None,
    ) -> None:
        self._cri, self._clock, self._runs = cri, clock, runs
        self._size, self._files, self._seconds = size, files, seconds
        self._links = links
        self._workers = workers  # how many logs are rotated at a time

    async def run(self) -> None:
        """Rotate logs until cancelled."""
        while True:
            await self._clock.sleep(self._seconds)
            await self.rotate_long_logs()

    async def rotate_long_logs(self) -> None:
        """Rotate the logs that have become too long."""
        if self._links is not None:
            logs.drop_links(self._links)
        waiting = iter(list(self._runs()))  # each worker takes the next one
        await asyncio.gather(*(self._work(waiting) for _ in range(self._workers)))

    async def _work(self, waiting: Iterator[ContainerRun]) -> None:
        for run in waiting:
            try:
                if run.log_path and await self._is_long(run):
                    await self._rotate(run)
            except (OSError, CriError) as error:
                log.warning("the log %s cannot be rotated: %s", run.log_path, error)

    async def _is_long(self, run: ContainerRun) -> bool:
        try:
            return os.lstat(run.log_path).st_size >= self._size
        except FileNotFoundError:  # somebody removed it: the runtime writes to a file without a name
            await self._cri.reopen_container_log(run.id)
            return False

    async def _rotate(self, run: ContainerRun) -> None:
        own = os.path.basename(run.log_path)
        with logs.log_folder(run.log_path) as folder:
            files = [name for name in os.listdir(folder) if name.startswith(f"{own}.")]
            for name in leftovers(files):
                os.unlink(name, dir_fd=folder)
                files.remove(name)
            for name in excess(files, self._files):
                os.unlink(name, dir_fd=folder)
                files.remove(name)
            for name in files:
                if not name.endswith(_PACKED):
                    await asyncio.to_thread(pack, folder, name)
            rotated = f"{own}.{time.strftime(_STAMP, time.localtime(self._clock.now()))}"
            os.rename(own, rotated, src_dir_fd=folder, dst_dir_fd=folder)
            try:
                await self._cri.reopen_container_log(run.id)
            except CriError:
                os.rename(rotated, own, src_dir_fd=folder, dst_dir_fd=folder)
                raise
