"""Room that is kept free for the day when the disk is full: a file that is given up so that deletions still work.

etcd refuses all writes but deletions then. Here changes that hardly need room go on as well: a lease is renewed, a Pod is marked
as one that is being deleted.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

FILE_NAME = "reserve"
# Enough to move a whole log into the file, which is what makes room for writing in the log again, and as much once more.
SIZE = 16 << 20
# By so much a changed value may be larger when there is no room.
GROWTH = 1024
# Less free room than this is next to none.
NEXT_TO_NONE = 1 << 20


def is_full(error: Exception) -> bool:
    """Return whether SQLite failed for want of room."""
    code = getattr(error, "sqlite_errorcode", None)
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)


def is_permitted(value_size: int | None, previous_size: int | None, free: int) -> bool:
    """Return whether a write may use the reserve: a deletion (no value) always, a replacement if it hardly grows."""
    if value_size is None:
        return True
    return previous_size is not None and value_size <= previous_size + GROWTH and free >= SIZE // 2


class Reserve:
    """The file. Its blocks are taken, so that giving them up makes room for sure."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._path = directory, directory / FILE_NAME

    def free(self) -> int:
        """Return the bytes that are free for this process."""
        state = os.statvfs(self._directory)
        return state.f_bavail * state.f_frsize

    def make(self) -> bool:
        """Take the room, unless it is taken; return whether there is any."""
        try:
            if self._path.stat().st_size == SIZE:
                return True
            self.release()  # a part of it, of a process that was killed
        except FileNotFoundError:
            pass
        if self.free() < SIZE + NEXT_TO_NONE:
            return False  # asked before every write while the disk is full: nothing is taken in vain
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, SIZE)
            finally:
                os.close(descriptor)
        except OSError as error:
            self.release()
            # Anything else, such as too many open files, says nothing about room.
            return error.errno not in (errno.ENOSPC, errno.EDQUOT)
        if self.free() < NEXT_TO_NONE:  # it took the last of it
            self.release()
            return False
        return True

    def release(self) -> None:
        """Give the room up."""
        self._path.unlink(missing_ok=True)

    def release_if_full(self) -> None:
        """Give the room up if there is no other, so that a store can be opened on a full disk."""
        if self.free() < NEXT_TO_NONE:
            self.release()
