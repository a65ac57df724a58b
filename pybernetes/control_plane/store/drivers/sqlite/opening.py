"""Opens the file of the embedded store: makes it, brings it up to date, and finds what is damaged before anything is served."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pybernetes.control_plane.store.drivers.sqlite import database
from pybernetes.control_plane.store.drivers.sqlite.log_file import lost_transactions
from pybernetes.control_plane.store.protocol import StoreError

log = logging.getLogger(__name__)

# Looks at a value before it gets its first checksum; ValueError if it makes no sense.
CheckValue = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Opened:
    """The file, ready to be written to, and what it holds."""

    connection: sqlite3.Connection
    rows: list[database.Row]
    damaged: list[database.DamagedRow]
    revision: int


def open_database(path: Path, check_value: CheckValue | None = None) -> Opened:
    """Open the file for writing and read all of it.

    A damaged row is among the answers. Damage to what holds the rows together is a StoreError, because writing to such a
    file could cost what is still good.
    """
    connection = None
    try:
        if lost := lost_transactions(path):
            raise StoreError(f"its write-ahead log is damaged: {lost} or more transactions cannot be read")
        connection = _connect(path)
        _check_structure(connection)
        if database.check(connection, path) == database.FORMER_FORMAT:
            upgrade(connection, check_value)
        return Opened(connection, *database.load(connection))
    except (sqlite3.Error, StoreError) as error:
        if connection is not None:
            connection.close()
        hint = f"; see `pyb etcd check` and `pyb etcd repair --data-dir {path.parent}`"
        raise StoreError(f"cannot open {path}: {error}{hint}") from error


def _connect(path: Path) -> sqlite3.Connection:
    # Made here, since SQLite would leave the mode to the umask; its other files copy the mode.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.text_factory = database.text
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        # What a statement would need to be undone is too large for SQLite's liking when it replaces large values. In a file it
        # would have to be in a folder that this process may not reach, and objects would be on other disks.
        connection.execute("PRAGMA temp_store = MEMORY")
        if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            database.create(connection)
        database.check(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_structure(connection: sqlite3.Connection) -> None:
    problems = database.structural_problems(connection)
    if problems and all("index" in problem for problem in problems):
        # The rows are what counts: the index is made again from them.
        log.error("the index of the store is damaged and made again: %s", "; ".join(problems))
        connection.execute("REINDEX")
        problems = database.structural_problems(connection)
    if problems:
        raise StoreError(f"it is damaged: {'; '.join(problems[:3])}")


def upgrade(connection: sqlite3.Connection, check_value: CheckValue | None) -> None:
    """Give each row of the former format its checksum, all or none; what makes no sense gets a wrong one."""

    def first_checksum(key: str, revision: int, value: bytes, expires: float) -> int:
        right = database.checksum(key, revision, value, expires)
        if check_value is not None and key != database.REVISION_KEY:
            try:
                check_value(value)
            except Exception as error:
                log.error("%s makes no sense: %s", key, error)
                return -right - 1
        return right

    connection.create_function("first_checksum", 4, first_checksum)
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(database.ADD_CHECKSUMS)
        connection.execute("UPDATE records SET checksum = first_checksum(key, revision, value, expires)")
        connection.execute(f"PRAGMA user_version = {database.FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
