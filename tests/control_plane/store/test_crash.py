"""Kills stores while they are written to: nothing acknowledged is lost, nothing torn, no revision reused."""

import asyncio
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from bench import faults
from bench.harness import crashes
from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore
from tests.control_plane.store.conftest import started
from tests.support import require_program

KILLS = 27
KILLS_OF_ETCD = 3


def test_no_acknowledged_write_is_lost(tmp_path: Path) -> None:
    # In a process of its own, which forks the writers: this one may have threads that do not like that.
    command = [
        sys.executable,
        "-m",
        "pybernetes.cmd.main",
        "bench",
        "faults",
        "--store=sqlite",
        f"--kills={KILLS}",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["results"]["sqlite"]
    assert figures["kills"] == KILLS and figures["acknowledged writes"] > 500


def test_none_is_lost_when_etcd_is_killed(tmp_path: Path) -> None:
    require_program("etcd")
    assert asyncio.run(faults.kill_etcd(tmp_path / "etcd", KILLS_OF_ETCD, random.Random())) >= KILLS_OF_ETCD


def test_what_is_lost_is_found(tmp_path: Path) -> None:
    async def check(acknowledged: list[crashes.Acknowledged]) -> None:
        async with started(SqliteStore(tmp_path / "data")) as store:
            if not store.count("/"):
                await crashes.write(store, key, 0)
            crashes.Promises().check(store, acknowledged, 0)

    key = f"{crashes.PREFIX}0"
    with pytest.raises(AssertionError, match="was acknowledged"):
        asyncio.run(check([(key, 1_000_000, True, 1_000_000)]))
    with pytest.raises(AssertionError, match=r"expected|is lost"):
        asyncio.run(check([(key, 1_000_001, True, 2)]))
