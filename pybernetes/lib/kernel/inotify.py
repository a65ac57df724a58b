"""Tells when something in a folder changed, through the kernel's inotify."""

from __future__ import annotations

import asyncio
import ctypes
import os
import struct
from collections.abc import Callable
from pathlib import Path

_IN_CLOEXEC, _IN_NONBLOCK = 0o2000000, 0o4000
_IN_EVENTS = 0x8 | 0x40 | 0x80 | 0x100 | 0x200  # close after writing, moved from and to, created, deleted


class FolderWatcher:
    """Calls ``changed`` on the running event loop whenever something in a folder changed."""

    def __init__(self, folder: Path, changed: Callable[[], None]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._file = libc.inotify_init1(_IN_CLOEXEC | _IN_NONBLOCK)
        if self._file < 0 or libc.inotify_add_watch(self._file, bytes(folder), _IN_EVENTS) < 0:
            raise OSError(ctypes.get_errno(), f"watching {folder}: {os.strerror(ctypes.get_errno())}")
        self._changed = changed
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._file, 65536)
        except BlockingIOError:
            return
        if len(data) >= struct.calcsize("iIII"):
            self._changed()

    def close(self) -> None:
        """Stop watching."""
        asyncio.get_running_loop().remove_reader(self._file)
        os.close(self._file)
