"""Checks the file of an embedded store that nobody has open, and repairs it.

A repair reads row by row whatever can still be read, writes the good rows into a new file, and puts all that is not good
into another file beside it. The damaged file itself is kept as it was.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.control_plane.store.drivers.sqlite import data_directory, database, directory_lock
from pybernetes.control_plane.store.drivers.sqlite.database import DamagedRow, Row
from pybernetes.control_plane.store.drivers.sqlite.log_file import PAGE_SIZE, apply_log, lost_transactions
from pybernetes.control_plane.store.protocol import StoreError

# Added to the largest revision that is left when it is not known which one was the last: no revision may be used twice.
LOST_REVISIONS = 1_000_000
_INDEX = "sqlite_autoindex_records_1"


@dataclass
class Findings:
    """What a file holds: good rows, damaged ones, and what is wrong with the file as such."""

    rows: list[Row] = field(default_factory=list)
    damaged: list[DamagedRow] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    revision: int = 0

    @property
    def is_good(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damaged and not self.problems


def check(directory: Path) -> Findings:
    """Read the whole store of a data directory, also while a server writes to it."""
    path = directory / database.FILE_NAME
    data_directory.expect_store(directory)
    try:
        # What the log of a running server holds cannot be told from what it is about to write.
        lost = 0 if directory_lock.is_held(directory) else lost_transactions(path)
        findings = _read_file(path)
    except (sqlite3.Error, StoreError) as error:
        return Findings(problems=[str(error)])
    if lost:
        findings.problems.insert(0, f"the write-ahead log is damaged: {lost} or more transactions are lost")
    return findings


def repair(directory: Path) -> tuple[Findings, Path | None]:
    """Make a damaged store usable; return what was found, and the folder that keeps what is not good.

    StoreError when a server has it open. A store without damage is left alone.
    """
    lock = directory_lock.acquire(directory)
    try:
        path = directory / database.FILE_NAME
        data_directory.expect_store(directory)
        prefix = time.strftime("damaged-%Y%m%dT%H%M%S-", time.gmtime())
        kept = Path(tempfile.mkdtemp(prefix=prefix, dir=directory))
        files = [file for suffix in ("", "-wal") if (file := path.with_name(path.name + suffix)).exists()]
        for file in files:
            shutil.copy2(file, kept / file.name)
            database.synchronize(kept / file.name)
        findings = _examine(kept / path.name)
        if findings.is_good:
            shutil.rmtree(kept)
            return findings, None
        _write_damaged(kept / "records.jsonl", findings)
        database.synchronize(kept)
        database.synchronize(directory)
        _replace(path, findings)
    except sqlite3.Error as error:
        raise StoreError(f"cannot repair {directory}: {error}") from error
    finally:
        directory_lock.release(lock)
    return findings, kept


def _examine(path: Path) -> Findings:
    """Read a copy of a damaged file, made readable where it is not; the copy itself stays as it is."""
    try:
        lost = lost_transactions(path)
        if not lost:
            return _read_file(path)
        problem = f"the write-ahead log is damaged: {lost} or more transactions may be lost"
    except (sqlite3.Error, StoreError) as error:
        problem = str(error)
    rebuilt, log = path.with_name(path.name + ".rebuilt"), path.with_name(path.name + "-wal")
    shutil.copyfile(path, rebuilt)
    try:
        if log.exists():
            apply_log(log, rebuilt)
        try:
            findings = _read_file(rebuilt, immutable=True)
        except (sqlite3.Error, StoreError):
            _replace_first_page(rebuilt)
            findings = _read_file(rebuilt, immutable=True)
    finally:
        rebuilt.unlink()
    findings.problems.insert(0, problem)
    return findings


def _read_file(path: Path, *, immutable: bool = False) -> Findings:
    with closing(database.connect_read_only(path, immutable=immutable)) as connection:
        if not database.has_our_schema(connection):
            raise StoreError("the description of its tables is damaged")
        return _read(connection)


def _replace_first_page(path: Path) -> None:
    """Give a file the first page of a new store: it describes the tables, which are the same in every store."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        with closing(sqlite3.connect(Path(folder) / "new", isolation_level=None)) as connection:
            database.create(connection)
        page = bytearray((Path(folder) / "new").read_bytes()[:PAGE_SIZE])
    with open(path, "r+b") as file:
        pages = file.seek(0, os.SEEK_END) // PAGE_SIZE
        page[28:32] = pages.to_bytes(4, "big")  # the size of the file
        file.seek(0)
        file.write(page)


def _read(connection: sqlite3.Connection) -> Findings:
    """Read every row that can still be reached, from the table and by the index."""
    findings = Findings()
    try:
        findings.problems = database.structural_problems(connection)
    except sqlite3.Error as error:
        findings.problems = [str(error)]
    seen: dict[str, Row] = {}
    for row in database.read(connection) if not findings.problems else _salvage(connection):
        if isinstance(row, DamagedRow):
            if row.number == 1:
                findings.problems.append("the row that carries the revision is damaged")
            else:
                findings.damaged.append(row)
        elif row[0] == database.REVISION_KEY:
            findings.revision = row[1]
        elif row[0] not in seen or seen[row[0]][1] < row[1]:
            seen[row[0]] = row
    findings.rows = list(seen.values())
    if not findings.revision:
        findings.revision = max((row[1] for row in findings.rows), default=0) + LOST_REVISIONS
    return findings


def _salvage(connection: sqlite3.Connection) -> Iterator[Row | DamagedRow]:
    """Yield each row by its number, so that a page which cannot be read costs only what is on it."""
    names: dict[int, object] = {}
    for query in (
        f"SELECT id, key FROM records INDEXED BY {_INDEX} ORDER BY key",
        f"SELECT id, key FROM records INDEXED BY {_INDEX} ORDER BY key DESC",
        "SELECT id, NULL FROM records NOT INDEXED ORDER BY id",
        "SELECT id, NULL FROM records NOT INDEXED ORDER BY id DESC",
    ):
        try:
            for number, key in connection.execute(query):
                names[number] = names.get(number) or key
        except sqlite3.Error:
            continue  # up to the damage; the next one comes from the other side
    column = "NULL" if database.is_former_format(connection) else "checksum"
    query = f"SELECT id, key, revision, value, expires, {column} FROM records NOT INDEXED WHERE id = ?"
    for number in range(1, max(names, default=0) + 1):
        try:
            row = connection.execute(query, (number,)).fetchone()
        except sqlite3.Error as error:
            row, problem = None, str(error)
        else:
            problem = "its row is missing"
        if row is not None:
            yield database.examine(*row)
        elif number in names:
            key = names[number]
            yield DamagedRow(number, key if isinstance(key, str) else None, 0, problem, None)


def _write_damaged(path: Path, findings: Findings) -> None:
    """Write what is not good as lines of JSON: first what is wrong with the file, then each damaged record."""
    with open(path, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        for problem in findings.problems:
            file.write(json.dumps({"problem": problem}) + "\n")
        for row in findings.damaged:
            value = row.value if isinstance(row.value, bytes) else repr(row.value).encode()
            line = {"key": row.key, "row": row.number, "revision": row.revision, "problem": row.problem,
                    "value": None if row.value is None else base64.b64encode(value).decode()}  # fmt: skip
            file.write(json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _replace(path: Path, findings: Findings) -> None:
    """Put a new file with the good rows in the place of the damaged one, whose copy is safe already."""
    new = path.with_name(path.name + ".repaired")
    new.unlink(missing_ok=True)
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(new, isolation_level=None)) as connection:
        database.create(connection)
        database.write(connection, findings.rows, findings.revision)
    database.synchronize(new)
    # The log belongs to the damaged file: beside the new one it would be taken for its own.
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    database.synchronize(path.parent)
    os.replace(new, path)
    database.synchronize(path.parent)
