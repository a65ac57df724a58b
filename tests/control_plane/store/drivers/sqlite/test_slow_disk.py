"""A disk that takes its time: who writes waits for it, and nobody else."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from pybernetes.control_plane.store.drivers.sqlite.committer import Committer, Writes
from pybernetes.control_plane.store.open import open_store


async def test_reads_go_on_while_the_disk_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("sqlite", data_dir=tmp_path)
    await store.start()
    await store.create("/registry/a/before", b"{}")
    goes_on, commit = threading.Event(), Committer._commit

    def slow(self: Committer, writes: Writes) -> None:
        goes_on.wait(60)
        commit(self, writes)

    monkeypatch.setattr(Committer, "_commit", slow)
    writes = [asyncio.create_task(store.create(f"/registry/a/{number}", b"{}")) for number in range(50)]
    for _ in range(20):
        await asyncio.sleep(0)
        assert store.get("/registry/a/before") is not None
        assert store.get("/registry/a/0") is None  # what is not on disk is not shown
    assert not any(write.done() for write in writes)
    goes_on.set()
    await asyncio.gather(*writes)
    assert len(store.list("/registry/a/").records) == 51
    await store.close()
