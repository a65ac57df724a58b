"""A disk that is full: deletions and small changes go on, the rest is refused with etcd's word, and it ends by itself."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from pybernetes.control_plane.store.drivers.sqlite import committer, reserve
from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore
from pybernetes.control_plane.store.protocol import NoSpace
from tests.control_plane.apiserver.verbs.config_maps import path
from tests.control_plane.store.conftest import started
from tests.servers import running
from tests.support import eventually, require_root, until

MEGABYTES = 40


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder on a file system of its own with little room."""
    require_root()
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Take all the room that is left."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    return ballast


async def _has_room(store: SqliteStore) -> bool:
    try:
        await store.space()
    except NoSpace:
        return False
    return True


@pytest.mark.parametrize(
    ("value", "previous", "free", "permitted"),
    [
        (None, 10, 0, True), (None, None, 0, True),
        (10, 10, reserve.SIZE, True), (1034, 10, reserve.SIZE, True), (1035, 10, reserve.SIZE, False),
        (10, 10, reserve.SIZE // 2 - 1, False), (10, None, reserve.SIZE, False),
    ],
)  # fmt: skip
def test_what_may_use_the_reserve(
    value: int | None, previous: int | None, free: int, permitted: bool
) -> None:
    assert reserve.is_permitted(value, previous, free) is permitted


def test_nothing_is_taken_where_there_is_too_little(small_disk: Path) -> None:
    """Nobody may take a file without room for the reserve, and no writer may find even less room meanwhile."""
    held = reserve.Reserve(small_disk)
    assert held.make() and held.make()
    fill(small_disk)
    held.release()
    (small_disk / reserve.FILE_NAME).write_bytes(bytes(1000))
    (small_disk / "more").write_bytes(bytes(reserve.NEXT_TO_NONE))
    free = held.free()
    assert not held.make() and not (small_disk / reserve.FILE_NAME).exists() and held.free() >= free
    (small_disk / "more").unlink()
    (small_disk / "ballast").unlink()
    assert held.make() and (small_disk / reserve.FILE_NAME).stat().st_size == reserve.SIZE


async def test_a_full_disk(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committer, "REST_SECONDS", 0.05)
    data = small_disk / "data"
    async with started(SqliteStore(data)) as store:
        for number in range(200):
            await store.create(f"/r/{number}", b"%d" % number * 500)
        # The file is there before its room is.
        sizes = {"store.db-wal": committer.LOG_BYTES, "reserve": reserve.SIZE}
        await eventually(
            lambda: all(
                (data / name).exists() and (data / name).stat().st_size >= size
                for name, size in sizes.items()
            )
        )
        ballast = fill(small_disk)
        revision = store.revision
        with pytest.raises(NoSpace):
            for number in range(10_000):  # the log has room for some
                await store.create(f"/s/{number}", os.urandom(20_000))
        with pytest.raises(NoSpace):
            await store.space()
        await store.health()
        # In one batch: what needs room is refused, what needs none is done.
        outcomes = await asyncio.gather(
            store.delete("/r/0", 0),
            store.create("/r/new", b"new"),
            store.update("/r/1", b"changed", 0),
            return_exceptions=True,
        )
        assert [isinstance(outcome, NoSpace) for outcome in outcomes] == [False, True, False]
        for number in range(2, 200):
            await store.delete(f"/r/{number}", 0)
        written = store.count("/s/")
        for number in range(written):
            await store.delete(f"/s/{number}", 0)
        assert store.revision > revision
        ballast.unlink()
        # Not that the file is there: it is before its room is, and is given up again if that cannot be had.
        await eventually(partial(_has_room, store))
    # It also starts on a full disk, and goes on by itself once there is room.
    ballast = fill(small_disk)
    async with started(SqliteStore(data)) as store:
        assert [record.key for record in store.list("/").records] == ["/r/1"]
        await store.delete("/r/1", 0)
        ballast.unlink()
        await eventually(partial(_has_room, store))
        await store.create("/r/again", bytes(50_000))


def test_clients_see_what_etcd_says(small_disk: Path, tmp_path: Path) -> None:
    with running(tmp_path, f"--data-dir={small_disk / 'data'}") as server:
        until(lambda: (small_disk / "data" / "reserve").exists())
        for number in range(5):
            assert server.call("POST", path("default"), {"metadata": {"name": f"m{number}"}})[0] == 201
        ballast = fill(small_disk)
        body = {"metadata": {"generateName": "big-"}, "data": {"a": "x" * 900_000}}
        until(lambda: server.call("POST", path("default"), body)[0] == 500)
        status, answer = server.call("POST", path("default"), {"metadata": {"name": "more"}})
        assert (status, answer["message"]) == (500, "etcdserver: mvcc: database space exceeded")
        for number in range(5):
            assert server.call("DELETE", f"{path('default')}/m{number}")[0] == 200
        status, text = server.call("GET", "/readyz?verbose")
        assert status == 500 and "[-]store-space failed" in text and "[+]etcd ok" in text
        assert server.call("GET", "/livez")[0] == 200
        ballast.unlink()
        until(lambda: server.call("GET", "/readyz")[0] == 200)
        assert server.call("POST", path("default"), {"metadata": {"name": "more"}})[0] == 201
