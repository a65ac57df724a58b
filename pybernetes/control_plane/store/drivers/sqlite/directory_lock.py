"""One process per data directory: an advisory lock that ends with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from pybernetes.control_plane.store.protocol import StoreError

FILE_NAME = "lock"


def acquire(directory: Path) -> int:
    """Lock a directory and return the descriptor that holds the lock; StoreError names the holder."""
    descriptor = os.open(directory / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 4096, 0).decode(errors="replace").strip()
        os.close(descriptor)
        raise StoreError(f"{directory} is in use by process {holder or '(unknown)'}") from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} ({command()})\n".encode(), 0)
    return descriptor


def is_held(directory: Path) -> bool:
    """Return whether a process has the directory in use."""
    try:
        descriptor = os.open(directory / FILE_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def release(descriptor: int) -> None:
    """Give the lock back."""
    os.ftruncate(descriptor, 0)
    os.close(descriptor)


def command() -> str:
    """Return how this process was started, shortened."""
    try:
        words = Path("/proc/self/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "unknown command"
    return b" ".join(words).decode(errors="replace").strip()[:200]
