"""Bits that change in the file of the embedded store: found, named, never served; and what repair makes of it."""

from __future__ import annotations

import json
import logging
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pybernetes.control_plane.store.drivers.sqlite import database, repair, snapshot_file
from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore
from pybernetes.control_plane.store.protocol import Damaged, Event, StoreError
from tests.control_plane.store.conftest import started

FLIPS = 60
Contents = dict[str, tuple[bytes, int]]


async def fill(directory: Path, crash_copy: Path | None = None) -> tuple[Contents, int]:
    """Make a store with some deletions in it; return what it holds, and leave a copy as a crash would."""
    async with started(SqliteStore(directory)) as store:
        for number in range(40):
            await store.create(f"/registry/pods/default/p{number}", f"value {number} ".encode() * 60)
        for number in range(0, 40, 7):
            await store.delete(f"/registry/pods/default/p{number}", 0)
        if crash_copy is not None:
            crash_copy.mkdir()
            for name in ("store.db", "store.db-wal", "initialized"):
                shutil.copy(directory / name, crash_copy / name)
        return {
            record.key: (record.value, record.revision) for record in store.list("/").records
        }, store.revision


def flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


async def read(directory: Path) -> tuple[Contents, set[str], int]:
    """Return what a store serves, what it says is damaged, and its revision."""
    async with started(SqliteStore(directory)) as store:
        served: Contents = {}
        for record in store.list("/").records:
            try:
                served[record.key] = (record.value, record.revision)
            except Damaged as error:
                assert record.key in str(error) and record.key in store.damaged()
        return served, set(store.damaged()), store.revision


async def test_no_flipped_bit_is_served(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    wanted, revision = await fill(tmp_path / "whole")
    outcomes: dict[str, int] = {"named": 0, "refused": 0, "harmless": 0}
    chance = random.Random(1)
    for _ in range(FLIPS):
        shutil.rmtree(tmp_path / "flipped", ignore_errors=True)
        shutil.copytree(tmp_path / "whole", tmp_path / "flipped")
        flip(tmp_path / "flipped" / "store.db", chance)
        try:
            served, damaged, at = await read(tmp_path / "flipped")
        except StoreError as error:
            assert "pyb etcd repair" in str(error)
            findings, kept = repair.repair(tmp_path / "flipped")
            assert kept is not None and (kept / "store.db").exists()
            served, damaged, at = await read(tmp_path / "flipped")
            assert not damaged and at >= revision
            named = {row.key for row in findings.damaged}
            assert all(key in served or key in named for key in wanted)
            outcomes["refused"] += 1
        else:
            assert at == revision and (damaged or served == wanted)
            outcomes["named" if damaged else "harmless"] += 1
            assert bool(damaged) != repair.check(tmp_path / "flipped").is_good
        # What is served is what was written, whatever happened.
        assert served.items() <= wanted.items() and len(served) >= len(wanted) - 1
    assert outcomes["named"] > FLIPS // 3, outcomes


async def test_a_damaged_log_is_not_taken_for_an_interrupted_write(tmp_path: Path) -> None:
    wanted, revision = await fill(tmp_path / "data", tmp_path / "whole")
    chance = random.Random(2)
    assert (await read(shutil.copytree(tmp_path / "whole", tmp_path / "same")))[0] == wanted
    refused = 0
    for number in range(20):
        directory = shutil.copytree(tmp_path / "whole", tmp_path / str(number))
        flip(directory / "store.db-wal", chance)
        try:
            served, damaged, at = await read(directory)
        except StoreError as error:
            assert "write-ahead log is damaged" in str(error)
            refused += 1
            before = (directory / "store.db-wal").read_bytes()
            with pytest.raises(StoreError, match="write-ahead log is damaged"):
                await read(directory)  # looking has not tidied it away
            assert (directory / "store.db-wal").read_bytes() == before
            assert not repair.check(directory).is_good
            findings, kept = repair.repair(directory)
            assert kept is not None and (kept / "store.db-wal").read_bytes() == before
            served, damaged, at = await read(directory)
            # Rows have checksums of their own: what comes after the damage is not lost with it.
            assert not damaged and len(served) >= len(wanted) - len(findings.damaged) - 1
        else:
            assert at >= revision - 1  # of the last transaction nobody can tell whether it was ever complete
    assert refused >= 15


async def test_a_damaged_record_can_be_replaced_only_by_deleting_it(tmp_path: Path) -> None:
    await fill(tmp_path)
    corrupt(tmp_path, "/registry/pods/default/p1")
    async with started(SqliteStore(tmp_path)) as store:
        seen: list[Event] = []
        ended: list[StoreError | None] = []

        def look(events: list[Event]) -> None:
            seen.extend(event for event in events if (event.record or event.previous).value)  # type: ignore[union-attr]

        store.watch("/registry/pods/", 0, look, closed=ended.append)
        await store.create("/registry/pods/default/new", b"new")
        assert list(store.damaged()) == ["/registry/pods/default/p1"]
        with pytest.raises(Damaged, match="p1 is damaged: its checksum does not match"):
            store.get("/registry/pods/default/p1").value  # type: ignore[union-attr]  # noqa: B018
        with pytest.raises(StoreError, match=r"is damaged: 1 of its records: /registry/pods/default/p1"):
            await store.snapshot_save(tmp_path / "snapshot")
        await store.delete("/registry/pods/default/p1", 0)
        assert not store.damaged() and len(seen) == 1
        assert isinstance(ended[0], Damaged) and len(ended) == 1  # whoever looked at it starts over
        await store.create("/registry/pods/default/p1", b"again")
        await store.snapshot_save(tmp_path / "snapshot")
    assert snapshot_file.status(tmp_path / "snapshot").total_keys == 35
    assert repair.check(tmp_path).is_good


async def test_repair_keeps_the_good_and_writes_down_the_rest(tmp_path: Path) -> None:
    wanted, revision = await fill(tmp_path)
    corrupt(tmp_path, "/registry/pods/default/p1")
    async with started(SqliteStore(tmp_path)):
        with pytest.raises(StoreError, match="in use"):
            repair.repair(tmp_path)
        assert [row.key for row in repair.check(tmp_path).damaged] == ["/registry/pods/default/p1"]
    kept = repair.repair(tmp_path)[1]
    assert kept is not None
    (line,) = map(json.loads, (kept / "records.jsonl").read_text().splitlines())
    assert (line["key"], line["problem"]) == ("/registry/pods/default/p1", "its checksum does not match")
    served, damaged, at = await read(tmp_path)
    assert served == {key: value for key, value in wanted.items() if not key.endswith("/p1")}
    assert not damaged and at == revision
    assert repair.repair(tmp_path) == (repair.check(tmp_path), None)


async def test_the_revision_is_never_reused_when_its_row_is_lost(tmp_path: Path) -> None:
    _, revision = await fill(tmp_path)
    corrupt(tmp_path, database.REVISION_KEY)
    with pytest.raises(StoreError, match="the row that carries the revision is damaged"):
        await read(tmp_path)
    repair.repair(tmp_path)
    assert (await read(tmp_path))[2] > revision


@pytest.mark.parametrize("state", ["missing", "empty"])
async def test_a_lost_file_is_no_new_cluster(tmp_path: Path, state: str) -> None:
    await fill(tmp_path)
    (tmp_path / "store.db").unlink()
    if state == "empty":
        (tmp_path / "store.db").touch()
    with pytest.raises(StoreError, match=rf"store\.db is {state}, although .* has had a store.*initialized"):
        await SqliteStore(tmp_path).start()
    (tmp_path / "initialized").unlink()
    assert await read(tmp_path) == ({}, set(), 1)


async def test_former_stores_get_checksums_in_one_transaction(tmp_path: Path) -> None:
    wanted, revision = await fill(tmp_path)
    (tmp_path / "initialized").unlink()
    make_former(tmp_path / "store.db")
    assert snapshot_file.status(tmp_path / "store.db").total_keys == len(wanted)
    assert await read(tmp_path) == (wanted, set(), revision)
    assert repair.check(tmp_path).is_good and (tmp_path / "initialized").exists()
    corrupt(tmp_path, "/registry/pods/default/p1")
    assert (await read(tmp_path))[1] == {"/registry/pods/default/p1"}


async def test_what_made_no_sense_in_a_former_store_is_damaged(tmp_path: Path) -> None:
    await fill(tmp_path)
    make_former(tmp_path / "store.db")

    def check(value: bytes) -> None:
        if value.startswith(b"value 3 "):
            raise ValueError("three")

    async with started(SqliteStore(tmp_path, check=check)) as store:
        assert list(store.damaged()) == ["/registry/pods/default/p3"]


def make_former(path: Path) -> None:
    """Turn a file into one of the format without checksums."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, key, revision, value, expires FROM records").fetchall()
    path.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(database.FORMER_SCHEMA)
        connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")


def corrupt(directory: Path, key: str) -> None:
    """Change a row without its checksum, as a failing disk would."""
    with closing(sqlite3.connect(directory / "store.db", isolation_level=None)) as connection:
        assert (
            connection.execute("UPDATE records SET revision = revision + 1 WHERE key = ?", (key,)).rowcount
            == 1
        )


def test_checksums_cover_everything() -> None:
    row = ("/a", 5, b"value", 0.0)
    others = [
        ("/b", 5, b"value", 0.0),
        ("/a", 6, b"value", 0.0),
        ("/a", 5, b"valuf", 0.0),
        ("/a", 5, b"value", 1.0),
    ]
    assert len({database.checksum(*other) for other in (row, *others)}) == 5
