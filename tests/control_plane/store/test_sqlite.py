"""What only the embedded store does: files, locks, failing disks, snapshots."""

import asyncio
import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from pybernetes.control_plane.store.drivers.sqlite import committer, database, snapshot_file
from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore
from pybernetes.control_plane.store.protocol import Event, NoSpace, StoreError, Unavailable
from tests.control_plane.store.conftest import started
from tests.support import eventually


async def test_files_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with started(SqliteStore(tmp_path / "deep" / "data")) as store:
            await store.create("/a", b"")
            files = list((tmp_path / "deep" / "data").iterdir())
            assert {file.name for file in files} - {"reserve"} == {
                "initialized",
                "lock",
                "store.db",
                "store.db-wal",
                "store.db-shm",
            }
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
            assert stat.S_IMODE((tmp_path / "deep" / "data").stat().st_mode) == 0o700
    finally:
        os.umask(before)


async def test_a_second_process_is_refused(tmp_path: Path) -> None:
    async with started(SqliteStore(tmp_path)):
        with pytest.raises(StoreError, match=rf"{tmp_path} is in use by process {os.getpid()} \(.*python"):
            await SqliteStore(tmp_path).start()
    async with started(SqliteStore(tmp_path)):
        pass


@pytest.mark.parametrize("content", [b"", b"nonsense" * 1000, b"SQLite format 3\0" + bytes(5000)])
async def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "store.db").write_bytes(content)
    if content:
        with pytest.raises(StoreError, match=r"store\.db"):
            await SqliteStore(tmp_path).start()
    else:  # a crash before the first transaction leaves an empty file behind
        async with started(SqliteStore(tmp_path)) as store:
            await store.create("/a", b"")


async def test_files_of_later_versions_are_refused(tmp_path: Path) -> None:
    async with started(SqliteStore(tmp_path)):
        pass
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="has format 99"):
        await SqliteStore(tmp_path).start()


async def test_a_full_file_fails_the_batch_and_nothing_else(tmp_path: Path) -> None:
    async with started(SqliteStore(tmp_path)) as store:
        kept = await store.create("/r/kept", b"old")
        revision = store.revision
        seen: list[Event] = []
        store.watch("/r/", 0, seen.extend)
        assert store._committer is not None
        connection = store._committer._connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 5}")
        outcomes = await asyncio.gather(
            store.update("/r/kept", bytes(5000), kept.revision),
            *(store.create(f"/r/{number}", bytes(5000)) for number in range(100)),
            return_exceptions=True,
        )
        assert all(isinstance(outcome, NoSpace) for outcome in outcomes)
        assert store.get("/r/kept") is kept and store.count("/r/") == 1
        assert store.revision == revision and seen == []
        await store.health()  # reading, deleting and small changes work
        connection.execute("PRAGMA query_only = ON")
        with pytest.raises(Unavailable, match="readonly"):
            await store.delete("/r/kept", 0)
        with pytest.raises(Unavailable, match="readonly"):
            await store.health()
        connection.execute("PRAGMA query_only = OFF")
        await store.health()
        connection.execute("PRAGMA max_page_count = 1000000")
        updated = await store.update("/r/kept", b"new", kept.revision)
        assert updated.revision == revision + 1 and len(seen) == 1
    async with started(SqliteStore(tmp_path)) as store:
        assert [record.value for record in store.list("/r/").records] == [b"new"]


async def test_writers_share_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    write = database.write

    def counting(connection: sqlite3.Connection, rows: list[database.Row], revision: int) -> None:
        batches.append(len(rows))
        write(connection, rows, revision)

    monkeypatch.setattr(database, "write", counting)
    async with started(SqliteStore(tmp_path)) as store:
        calls: list[int] = []
        store.watch("/r/", 0, lambda events: calls.append(len(events)))
        await asyncio.gather(*(store.create(f"/r/{number}", b"x") for number in range(200)))
        assert batches == [200] and calls == [200]  # more than fits into one statement
        await asyncio.gather(*(store.delete(f"/r/{number}", 0) for number in range(200)))
        assert batches == [200, 200] and store.count("/r/") == 0
        revision = store.revision
    async with started(SqliteStore(tmp_path)) as store:
        assert store.revision == revision and store.count("/") == 0


async def test_the_log_is_moved_into_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committer, "LOG_BYTES", 1 << 20)
    monkeypatch.setattr(committer, "REST_SECONDS", 0.02)
    log = tmp_path / "store.db-wal"
    async with started(SqliteStore(tmp_path)) as store:
        await eventually(lambda: log.stat().st_size == 1 << 20)  # at rest it gets its size at once
        inode = log.stat().st_ino
        for number in range(300):
            await store.create(f"/r/{number}", bytes(2000))
        # It is reused from its beginning instead of growing with every write.
        assert log.stat().st_size < 2 << 20 and log.stat().st_ino == inode
        # What a crash would leave behind is complete: the log, with its unused rest, belongs to it.
        (tmp_path / "copy").mkdir()
        for name in ("store.db", "store.db-wal"):
            shutil.copy(tmp_path / name, tmp_path / "copy" / name)
    assert not log.exists()
    async with started(SqliteStore(tmp_path / "copy")) as store:
        assert store.count("/r/") == 300 and store.revision == 301


async def test_snapshot_while_writing(tmp_path: Path) -> None:
    async with started(SqliteStore(tmp_path / "data")) as store:
        for number in range(50):
            await store.create(f"/r/{number:02}", bytes(2000))
        writing = True

        async def write() -> None:
            number = 0
            while writing:
                await store.update("/r/00", b"%d" % number, 0)
                number += 1

        writer = asyncio.create_task(write())
        before = store.revision
        saved = await store.snapshot_save(tmp_path / "snapshot")
        writing = False
        await writer
        assert before <= saved.revision <= store.revision and saved.total_keys == 50
        with pytest.raises(StoreError, match="exists"):
            await store.snapshot_save(tmp_path / "snapshot")
    assert stat.S_IMODE((tmp_path / "snapshot").stat().st_mode) == 0o600
    assert saved == snapshot_file.status(tmp_path / "snapshot")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "snapshot"]
    assert snapshot_file.restore(tmp_path / "snapshot", tmp_path / "new") == saved
    with pytest.raises(StoreError, match="new exists"):
        snapshot_file.restore(tmp_path / "snapshot", tmp_path / "new")
    async with started(SqliteStore(tmp_path / "new")) as store:
        assert store.revision == saved.revision and store.count("/r/") == 50
        assert (await store.create("/r/later", b"")).revision == saved.revision + 1


async def test_damaged_snapshots_are_found(tmp_path: Path) -> None:
    async with started(SqliteStore(tmp_path / "data")) as store:
        for number in range(100):
            await store.create(f"/r/{number:02}", bytes(2000))
        await store.snapshot_save(tmp_path / "snapshot")
    whole = (tmp_path / "snapshot").read_bytes()
    for damaged in (whole[:-8192], whole[:8192] + os.urandom(8192) + whole[16384:], b"", b"other"):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(StoreError, match="damaged"):
            snapshot_file.restore(tmp_path / "damaged", tmp_path / "new")
        assert not (tmp_path / "new").exists()
