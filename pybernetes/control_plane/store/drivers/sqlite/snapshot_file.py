"""Snapshots of the embedded store: a copy of its file, checked row by row when it is made and when it is used."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from pybernetes.control_plane.store.drivers.sqlite import database
from pybernetes.control_plane.store.protocol import SnapshotStatus, StoreError

# So many damaged keys are named in a message.
NAMED = 20


def save(source: Path, target: Path) -> SnapshotStatus:
    """Copy the file as of one moment to a new file, also while a server writes to it."""
    if target.exists():
        raise StoreError(f"{target} exists")
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(database.connect_read_only(source)) as reader, closing(sqlite3.connect(part)) as writer:
            # All pages in one step: a later step would start over after each write of the server.
            reader.backup(writer, pages=-1)
            # A snapshot is one file, without a write-ahead log beside it.
            writer.execute("PRAGMA journal_mode = DELETE")
        saved = status(part)  # a backup that is damaged is none
        database.synchronize(part)
        os.link(part, target)  # unlike a rename, refuses to replace what came there meanwhile
        database.synchronize(target.parent)
    except sqlite3.Error as error:
        raise StoreError(f"cannot save {source} to {target}: {error}") from error
    except FileExistsError:
        raise StoreError(f"{target} exists") from None
    finally:
        part.unlink(missing_ok=True)
    return saved


def restore(snapshot: Path, directory: Path) -> SnapshotStatus:
    """Make a new data directory from a snapshot; an existing one is refused."""
    saved = status(snapshot)
    try:
        directory.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise StoreError(f"{directory} exists: restore into a new directory") from None
    save(snapshot, directory / database.FILE_NAME)
    database.synchronize(directory.parent)
    return saved


def status(path: Path) -> SnapshotStatus:
    """Check a snapshot and sum it up; StoreError names what is damaged."""
    try:
        with closing(database.connect_read_only(path, immutable=True)) as connection:
            if problems := database.structural_problems(connection):
                raise StoreError(f"{path} is damaged: {problems[0]}")
            rows, damaged, revision = database.load(connection)
    except sqlite3.Error as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    if damaged:
        names = ", ".join(f"{row.name} ({row.problem})" for row in damaged[:NAMED])
        raise StoreError(f"{path} is damaged: {len(damaged)} of its records: {names}")
    summary = 0
    for key, changed, value, expires in sorted(rows):
        summary = zlib.crc32(f"{key}\0{changed}\0{expires!r}\0".encode() + (value or b""), summary)
    return SnapshotStatus(summary, revision, len(rows), path.stat().st_size)
