"""Reads and creates regular files. What is something else (a pipe, a device, a socket) is not even opened."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pybernetes.lib.files import opening
from pybernetes.lib.files.opening import Links, open_below, reopen


def open_regular(folder: int, path: str, links: Links = Links.REFUSED) -> BinaryIO:
    """Open a regular file below a folder for reading; raise OSError if it is not there or something else."""
    descriptor = open_below(folder, path, os.O_PATH, links)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        # Opening a pipe would wait, and opening a device can do anything: hence by what was looked at.
        return open(reopen(descriptor, os.O_RDONLY | os.O_NONBLOCK), "rb")
    finally:
        os.close(descriptor)


def open_regular_path(path: str | Path, foreign: int = 1) -> BinaryIO:
    """Open a regular file; others can change the last ``foreign`` parts of its path, and none of them may be a link."""
    head, name = os.path.split(path)
    with foreign_folder(head, foreign - 1, os.O_PATH) as folder:
        return open_regular(folder, name)


@contextmanager
def foreign_folder(path: str | Path, foreign: int, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open a folder; others can change the last ``foreign`` parts of its path, and none of them may be a link."""
    parts = os.fspath(path).split("/")
    own = len(parts) - foreign
    with opening.folder("/".join(parts[:own]) or ("/" if parts[0] == "" else "."), os.O_PATH) as top:
        folder = open_below(top, "/".join(parts[own:]), flags | os.O_DIRECTORY)
    try:
        yield folder
    finally:
        os.close(folder)


def read_below(root: str, path: str, limit: int = 64 * 1024) -> str:
    """Return the text of a file below a folder, as if that were the root; raise OSError if it is not there."""
    with opening.folder(root, os.O_PATH) as folder, open_regular(folder, path, Links.ROOTED) as file:
        return file.read(limit).decode(errors="replace")


def read_whole(path: str | Path, limit: int = 16 << 20) -> bytes:
    """Return the content of a file that a running program reads again; links are followed, as its owner made them.

    OSError if it is something else than a regular file, which could make the program wait for ever, or longer than the limit.
    """
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"longer than {limit} bytes", str(path))
        with open(reopen(descriptor, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            return file.read(limit)
    finally:
        os.close(descriptor)


def create(folder: int, name: str, data: bytes, mode: int, user: int = -1, group: int = -1) -> None:
    """Create a file in a folder; raise FileExistsError if anything has that name."""
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if user != -1 or group != -1:
            os.fchown(descriptor, user, group)
        os.fchmod(descriptor, mode)


def rewrite(path: str | Path, data: bytes, mode: int) -> None:
    """Write a file whose name is ours and whose content others can change; make it if it is not there.

    Raise BlockingIOError if somebody holds a lease on it: opening it would wait until that is broken.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, mode)
    with open(descriptor, "wb") as file:
        os.ftruncate(descriptor, 0)
        file.write(data)
        file.flush()
        os.fchmod(descriptor, mode)
