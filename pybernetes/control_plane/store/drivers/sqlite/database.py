"""The file of the embedded store: its tables, how a batch is written, how it is copied and inspected.

Everything here blocks; the store calls it from its commit thread or from an executor.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from pybernetes.control_plane.store.protocol import SnapshotStatus, StoreError

FILE_NAME = "store.db"
# "pybs" in the file's header tells our files from any other SQLite file.
APPLICATION_ID = 0x70796273
FORMAT = 1
# The row that carries the revision: no key is empty.
REVISION_KEY = ""
# More rows than this in one statement gain nothing and would flood the statement cache.
ROWS_PER_STATEMENT = 64

# A NULL value means "delete this key": together with the revision being a row as well, one statement
# writes a whole batch, and one call means that the commit thread needs the interpreter only once.
SCHEMA = """
CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  value BLOB,
  expires REAL NOT NULL
);
CREATE TRIGGER delete_inserted AFTER INSERT ON records WHEN NEW.value IS NULL
  BEGIN DELETE FROM records WHERE id = NEW.id; END;
CREATE TRIGGER delete_updated AFTER UPDATE ON records WHEN NEW.value IS NULL
  BEGIN DELETE FROM records WHERE id = NEW.id; END;
"""

Row = tuple[str, int, bytes | None, float]  # key, revision, value or None to delete, expiry


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for writing, making it when it is not there."""
    # Made here, since SQLite would leave the mode to the umask; its other files copy the mode.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            connection.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"
                f"{SCHEMA} INSERT INTO records VALUES (NULL, '{REVISION_KEY}', 1, x'', 0); COMMIT;"
            )
        check(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(f"cannot open {path}: {error}") from error
    except StoreError:
        connection.close()
        raise
    return connection


def connect_read_only(path: Path, *, immutable: bool = False) -> sqlite3.Connection:
    """Open the file beside a running writer, or (immutable) a snapshot that nobody writes."""
    if not path.is_file():
        raise StoreError(f"{path} does not exist")
    mode = "mode=ro&immutable=1" if immutable else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, isolation_level=None)
    try:
        check(connection, path)
    except (sqlite3.Error, StoreError) as error:
        connection.close()
        raise StoreError(f"cannot read {path}: {error}") from error
    return connection


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise when a file is not ours or was written by a later version."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is not a file of this store")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != FORMAT:
        raise StoreError(f"{path} has format {version}, this version reads format {FORMAT}")


def load(connection: sqlite3.Connection) -> tuple[list[Row], int]:
    """Return all rows, and the revision of the last batch."""
    rows = connection.execute("SELECT key, revision, value, expires FROM records WHERE id > 1").fetchall()
    return rows, read_revision(connection)


def read_revision(connection: sqlite3.Connection) -> int:
    """Return the revision of the last batch."""
    revision: int = connection.execute("SELECT revision FROM records WHERE id = 1").fetchone()[0]
    return revision


def write(connection: sqlite3.Connection, rows: Sequence[Row], revision: int) -> None:
    """Write one batch and its revision durably, or nothing of it."""
    rows = [*rows, (REVISION_KEY, revision, b"", 0.0)]
    if len(rows) <= ROWS_PER_STATEMENT:
        execute(connection, rows)
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for position in range(0, len(rows), ROWS_PER_STATEMENT):
            execute(connection, rows[position : position + ROWS_PER_STATEMENT])
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def execute(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Write rows by one statement."""
    connection.execute(
        f"INSERT INTO records (key, revision, value, expires) VALUES {','.join(['(?,?,?,?)'] * len(rows))}"
        " ON CONFLICT (key) DO UPDATE"
        " SET revision = excluded.revision, value = excluded.value, expires = excluded.expires",
        [field for row in rows for field in row],
    )


def checkpoint(connection: sqlite3.Connection) -> None:
    """Move what the write-ahead log holds into the file, as far as readers allow."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def extend_log(connection: sqlite3.Connection, size: int) -> None:
    """Let the log have its later size now: writing inside of a file costs a third of making it longer.

    SQLite ignores what follows the last frame that it has written, since the log is reused from its start.
    """
    path = connection.execute("PRAGMA database_list").fetchone()[2] + "-wal"
    with open(path, "r+b") as file:
        file.write(bytes(max(0, size - file.seek(0, os.SEEK_END))))
        file.flush()
        os.fsync(file.fileno())


def save(source: Path, target: Path) -> SnapshotStatus:
    """Copy the file as of one moment to a new file, also while a server writes to it."""
    if target.exists():
        raise StoreError(f"{target} exists")
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(connect_read_only(source)) as reader, closing(sqlite3.connect(part)) as writer:
            # All pages in one step: a later step would start over after each write of the server.
            reader.backup(writer, pages=-1)
            # A snapshot is one file, without a write-ahead log beside it.
            writer.execute("PRAGMA journal_mode = DELETE")
        synchronize(part)
        os.link(part, target)  # unlike a rename, refuses to replace what came there meanwhile
        synchronize(target.parent)
    except sqlite3.Error as error:
        raise StoreError(f"cannot save {source} to {target}: {error}") from error
    except FileExistsError:
        raise StoreError(f"{target} exists") from None
    finally:
        part.unlink(missing_ok=True)
    return status(target)


def restore(snapshot: Path, directory: Path) -> SnapshotStatus:
    """Make a new data directory from a snapshot; an existing one is refused."""
    saved = status(snapshot)
    try:
        directory.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise StoreError(f"{directory} exists: restore into a new directory") from None
    save(snapshot, directory / FILE_NAME)
    synchronize(directory.parent)
    return saved


def status(path: Path) -> SnapshotStatus:
    """Check a snapshot and sum it up."""
    try:
        with closing(connect_read_only(path, immutable=True)) as connection:
            problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if problem != "ok":
                raise StoreError(f"{path} is damaged: {problem}")
            revision = read_revision(connection)
            checksum = total = 0
            for part in contents(connection):
                checksum = zlib.crc32(part, checksum)
                total += 1
    except sqlite3.Error as error:
        raise StoreError(f"cannot read {path}: {error}") from error
    return SnapshotStatus(checksum, revision, total, path.stat().st_size)


def contents(connection: sqlite3.Connection) -> Iterator[bytes]:
    """Yield each record as bytes, in key order, for the checksum."""
    for key, revision, value, expires in connection.execute(
        "SELECT key, revision, value, expires FROM records WHERE id > 1 ORDER BY key"
    ):
        yield f"{key}\0{revision}\0{expires!r}\0".encode() + value


def synchronize(path: Path) -> None:
    """Make a file or the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
