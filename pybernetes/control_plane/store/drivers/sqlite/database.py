"""The file of the embedded store: its tables, how a batch is written, and how everything is read and checked.

Each row carries a checksum of all that it says, so that damage is found before it is served. Everything here
blocks; the store calls it from its commit thread or from an executor.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

from pybernetes.control_plane.store.protocol import StoreError

FILE_NAME = "store.db"
# "pybs" in the file's header tells our files from any other SQLite file.
APPLICATION_ID = 0x70796273
FORMAT = 2
# Format 1 had no checksums; it is brought up to date when it is opened.
FORMER_FORMAT = 1
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
  expires REAL NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
);
CREATE TRIGGER delete_inserted AFTER INSERT ON records WHEN NEW.value IS NULL
  BEGIN DELETE FROM records WHERE id = NEW.id; END;
CREATE TRIGGER delete_updated AFTER UPDATE ON records WHEN NEW.value IS NULL
  BEGIN DELETE FROM records WHERE id = NEW.id; END;
"""

_CHECKSUM_COLUMN = "checksum INTEGER NOT NULL DEFAULT 0"
FORMER_SCHEMA = SCHEMA.replace(f",\n  {_CHECKSUM_COLUMN}", "")
ADD_CHECKSUMS = f"ALTER TABLE records ADD COLUMN {_CHECKSUM_COLUMN}"
_SCHEMA_QUERY = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY name"

Row = tuple[str, int, bytes | None, float]  # key, revision, value or None to delete, expiry


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row that does not say what was written: its number, and what it seems to say."""

    number: int
    key: str | None  # None if it is no text
    revision: int
    problem: str
    value: Any

    @property
    def name(self) -> str:
        """How people are told of it."""
        return self.key if self.key is not None else f"row {self.number}"


def checksum(key: str, revision: int, value: bytes | None, expires: float) -> int:
    """Return the checksum of all that a row says."""
    return crc32(value or b"", crc32(f"{key}\0{revision}\0{expires!r}".encode()))


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty store, at revision 1."""
    first = checksum(REVISION_KEY, 1, b"", 0.0)
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; {SCHEMA}"
        "INSERT INTO records (key, revision, value, expires, checksum)"
        f" VALUES ('{REVISION_KEY}', 1, x'', 0, {first}); COMMIT;"
    )


def text(encoded: bytes) -> str:
    """Return a text of the file; one that is none any more keeps its bytes, and is found by its checksum."""
    return encoded.decode(errors="surrogateescape")


def connect_read_only(path: Path, *, immutable: bool = False) -> sqlite3.Connection:
    """Open the file beside a running writer, or (immutable) a snapshot that nobody writes."""
    if not path.is_file():
        raise StoreError(f"{path} does not exist")
    mode = "mode=ro&immutable=1" if immutable else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, isolation_level=None)
    connection.text_factory = text
    try:
        check(connection, path)
    except (sqlite3.Error, StoreError) as error:
        connection.close()
        raise StoreError(f"cannot read {path}: {error}") from error
    return connection


def check(connection: sqlite3.Connection, path: Path) -> int:
    """Return the format of a file; raise when it is not ours or was written by a later version."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is not a file of this store")
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (FORMER_FORMAT, FORMAT):
        raise StoreError(f"{path} has format {version}, this version reads format {FORMAT}")
    return version


def structural_problems(connection: sqlite3.Connection) -> list[str]:
    """Return what is wrong with the file's pages and its index, as SQLite words it."""
    if not has_our_schema(connection):
        return ["the description of its tables is not ours"]
    answers = [answer for (answer,) in connection.execute("PRAGMA integrity_check(20)")]
    return [] if answers == ["ok"] else [line for answer in answers for line in answer.splitlines()]


def has_our_schema(connection: sqlite3.Connection) -> bool:
    """Return whether the tables and triggers are, to the letter, those that we make."""
    schema = connection.execute(_SCHEMA_QUERY).fetchall()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh, closing(
        sqlite3.connect(":memory:", isolation_level=None)
    ) as former:  # fmt: skip
        fresh.executescript(SCHEMA)
        former.executescript(FORMER_SCHEMA)
        before = former.execute(_SCHEMA_QUERY).fetchall()
        former.execute(ADD_CHECKSUMS)
        return schema in (
            fresh.execute(_SCHEMA_QUERY).fetchall(),
            former.execute(_SCHEMA_QUERY).fetchall(),
            before,
        )


def load(connection: sqlite3.Connection) -> tuple[list[Row], list[DamagedRow], int]:
    """Return all good rows, the damaged ones, and the revision of the last batch."""
    rows: list[Row] = []
    damaged: list[DamagedRow] = []
    revision = 0
    for row in read(connection):
        if isinstance(row, DamagedRow):
            damaged.append(row)
        elif row[0] == REVISION_KEY:
            revision = row[1]
        else:
            rows.append(row)
    if not revision:
        raise StoreError("the row that carries the revision is damaged")
    return rows, damaged, revision


def read(connection: sqlite3.Connection) -> Iterator[Row | DamagedRow]:
    """Yield each row, compared with its checksum if the file has them."""
    column = "NULL" if is_former_format(connection) else "checksum"
    for row in connection.execute(f"SELECT id, key, revision, value, expires, {column} FROM records"):
        yield examine(*row)


def is_former_format(connection: sqlite3.Connection) -> bool:
    """Return whether the rows of a file have no checksums yet."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version == FORMER_FORMAT


def examine(number: int, key: Any, revision: Any, value: Any, expires: Any, stored: Any) -> Row | DamagedRow:
    """Return a row if it is what was written (``stored`` is its checksum, None in the former format)."""
    try:
        if type(key) is str and type(revision) is int and type(value) is bytes and type(expires) is float:
            if stored is None or checksum(key, revision, value, expires) == stored:
                return key, revision, value, expires
            problem = "its checksum does not match"
        else:
            problem = "its columns do not have their types"
        if type(key) is str:
            key.encode()
    except UnicodeEncodeError:
        problem, key = "its key is not a text", None
    return DamagedRow(
        number, key if type(key) is str else None, revision if type(revision) is int else 0, problem, value
    )


def write(connection: sqlite3.Connection, rows: Sequence[Row], revision: int) -> None:
    """Write one batch and its revision durably, or nothing of it."""
    # SQLite writes nothing when nothing changes: a batch without rows, which is to show that writing works, has the time in it.
    rows = [*rows, (REVISION_KEY, revision, b"", 0.0 if rows else time.time())]
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
    connection.execute(_statement(len(rows)), [field for row in rows for field in (*row, checksum(*row))])


@lru_cache(maxsize=16)  # mostly one row and the revision
def _statement(rows: int) -> str:
    return (
        "INSERT INTO records (key, revision, value, expires, checksum)"
        f" VALUES {','.join(['(?,?,?,?,?)'] * rows)} ON CONFLICT (key) DO UPDATE SET revision = excluded.revision,"
        " value = excluded.value, expires = excluded.expires, checksum = excluded.checksum"
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


def synchronize(path: Path) -> None:
    """Make a file or the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
