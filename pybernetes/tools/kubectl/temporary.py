"""Temporary files and folders, with numbers in their names as the original's have: scripts look for them by pattern."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def file(prefix: str, suffix: str) -> tuple[int, str]:
    """Return the descriptor and the path of a new file that only its user reads."""
    path, handle = _new(prefix, suffix, lambda path: os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    return handle, path


@contextmanager
def folder(prefix: str) -> Iterator[str]:
    """Make a folder that only its user reads, and remove it afterwards with what is in it."""
    path, _ = _new(prefix, "", lambda path: os.mkdir(path, 0o700) or 0)  # type: ignore[func-returns-value]
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _new(prefix: str, suffix: str, make: Callable[[str], int]) -> tuple[str, int]:
    where = os.environ.get("TMPDIR") or "/tmp"
    while True:
        path = os.path.join(where, f"{prefix}{int.from_bytes(os.urandom(4))}{suffix}")
        try:
            return path, make(path)
        except FileExistsError:
            continue
