"""The data directory remembers that it has had a store, so that a lost file is not taken for a new cluster."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pybernetes.control_plane.store.drivers.sqlite import database
from pybernetes.control_plane.store.protocol import StoreError

MARK = "initialized"
_TEXT = "This directory holds a store. Remove this file, and the store's, only to begin a new cluster.\n"


def expect_store(directory: Path) -> None:
    """Raise when a directory that has had a store has none any more."""
    path = directory / database.FILE_NAME
    if not (directory / MARK).exists() or (path.is_file() and path.stat().st_size):
        return
    state = "is empty" if path.exists() else "is missing"
    raise StoreError(
        f"{path} {state}, although {directory} has had a store: put the file back, or restore a snapshot into another "
        f"directory (pyb etcd snapshot restore). To begin a new, empty cluster here, remove {directory / MARK}"
    )


def note_store(directory: Path) -> None:
    """Note, durably, that the directory has a store."""
    mark = directory / MARK
    if mark.exists():
        return
    descriptor = os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, _TEXT.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    database.synchronize(directory)
    # Its own name as well; whoever made it in a folder that we cannot read has seen to that.
    with contextlib.suppress(PermissionError):
        database.synchronize(directory.absolute().parent)
