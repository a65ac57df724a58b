"""Somebody who exchanges a folder and a link all the time, as a container that shares a volume could."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_EXCHANGE = 2


def exchange(folder: int, one: str, other: str) -> None:
    """Exchange two names of a folder at once."""
    _LIBC.renameat2(folder, one.encode(), folder, other.encode(), _EXCHANGE)


class Swapper:
    """Counts how often it exchanged."""

    def __init__(self) -> None:
        self.count = 0


@contextmanager
def swapping(folder: Path, one: str, other: str) -> Iterator[Swapper]:
    """Exchange two names of a folder in a thread for as long as the block runs."""
    swapper, ended = Swapper(), threading.Event()
    descriptor = os.open(folder, os.O_PATH)

    def swap() -> None:
        while not ended.is_set():
            exchange(descriptor, one, other)
            swapper.count += 1

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield swapper
    finally:
        ended.set()
        thread.join()
        os.close(descriptor)


def content(folder: Path) -> dict[str, tuple[int, int, int, str]]:
    """Return what is below a folder: mode, owner, group and text of everything in it."""
    entries = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        text = path.read_text() if path.is_file() and not path.is_symlink() else ""
        entries[str(path)] = (status.st_mode, status.st_uid, status.st_gid, text)
    return entries
