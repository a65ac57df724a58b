"""Records that delete themselves, whatever happens to the wall clock."""

from __future__ import annotations

import asyncio
import time

import pytest

from pybernetes.control_plane.store import expiry, protocol
from pybernetes.control_plane.store.expiry import Expiry
from pybernetes.control_plane.store.protocol import Record
from tests.support import eventually

HOUR = 3600.0


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
async def test_jumps_of_the_wall_clock_move_no_expiry(monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    wall = [1_000_000.0]
    steady = [50.0]
    clock = lambda: wall[0]  # noqa: E731
    monkeypatch.setattr(expiry, "steady", lambda clock: lambda: steady[0])
    deleted: list[str] = []

    async def delete(key: str, revision: int) -> None:
        deleted.append(key)

    waits = Expiry(clock, delete, lambda key: None)
    waits.add(Record("/soon", b"", 1, wall[0] + 10))
    waits.add(Record("/later", b"", 2, wall[0] + 20))
    wall[0] += jump
    waits._fire()
    await asyncio.sleep(0)
    assert deleted == []
    steady[0] += 10
    waits._fire()
    await eventually(lambda: deleted == ["/soon"])
    # What is added after the jump lasts as long as it says, too.
    waits.add(Record("/new", b"", 3, wall[0] + 5))
    steady[0] += 5
    waits._fire()
    await eventually(lambda: deleted == ["/soon", "/new"])
    waits.close()


def test_clocks_of_tests_are_their_own() -> None:
    clock = lambda: 7.0  # noqa: E731
    assert protocol.steady(clock) is clock and protocol.steady(protocol.wall_clock) is time.monotonic


async def test_what_is_deleted_before_its_time_is_forgotten() -> None:
    """Events of namespaces that come and go last an hour: their keys must not."""
    clock = lambda: 1000.0  # noqa: E731
    records: dict[str, Record] = {}
    deleted: list[str] = []

    async def delete(key: str, revision: int) -> None:
        deleted.append(key)

    waits = Expiry(clock, delete, records.get)
    for number in range(20_000):
        record = Record(f"/{number}", b"", number, 1000.0 + HOUR)
        if number % 100 == 0:
            records[record.key] = record
        waits.add(record)
    assert len(waits._heap) < 1000
    assert {key for _, key, _ in waits._heap} >= records.keys()
    waits.close()
