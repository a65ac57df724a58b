"""Kills a writing process many times: nothing acknowledged is lost, nothing torn, no revision reused."""

import random
import signal
import subprocess
import sys
from pathlib import Path

from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore
from tests.control_plane.store.crash_child import DELETES_EVERY, WORKERS, number_of

ROUNDS = 15
STEP = 1_000_000  # the numbers of a round begin at a multiple of this


def crash(directory: Path, first: int, lines: int) -> list[tuple[str, int, bool, int]]:
    """Let a process write until so many writes were acknowledged, kill it, and return all of them."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.control_plane.store.crash_child", str(directory), str(first)],
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    output = [child.stdout.readline() for _ in range(lines)]
    child.send_signal(signal.SIGKILL)
    output += child.stdout.readlines()
    child.wait()
    acknowledged = []
    for line in output:
        if line.endswith(b"\n"):
            key, number, exists, revision = line.decode().split()
            acknowledged.append((key, int(number), exists == "1", int(revision)))
    return acknowledged


async def test_no_acknowledged_write_is_lost(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    keys = [f"/registry/pods/crash/{worker}" for worker in range(WORKERS)]
    last: dict[str, tuple[int, bool]] = dict.fromkeys(keys, (-1, False))
    revision = total = 0
    for turn in range(ROUNDS):
        first = turn * STEP
        acknowledged = crash(directory, first, random.randrange(1, 250))
        last_of_turn: dict[str, tuple[int, bool]] = {}
        for key, number, exists, written in acknowledged:
            last_of_turn[key] = (number, exists)
            revision = max(revision, written)
        total += len(acknowledged)

        store = SqliteStore(directory)
        await store.start()
        assert store.revision >= revision
        for key in keys:
            number, exists = last_of_turn.get(key, last[key])
            following = number + 1 if key in last_of_turn else first  # may have been written, or not
            record = store.get(key)
            if record is None:
                found = (number, False)
                assert not exists or following % DELETES_EVERY == DELETES_EVERY - 1
            else:
                found = (number_of(key, record.value), True)
                assert found[0] == following or (exists and found[0] == number)
                assert record.revision <= store.revision
            last[key] = found
        revision = store.revision
        await store.close()
    assert total > 500
