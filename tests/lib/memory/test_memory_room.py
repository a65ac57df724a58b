"""How much memory there is: control groups of both versions, and what becomes of bounds where there is little."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pybernetes.control_plane.store.protocol import HistoryLimits
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.memory import memory_room

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
UNLIMITED = "9223372036854771712\n"
V1, V2 = "memory/{}/memory.limit_in_bytes", "{}/memory.max"


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        (None, {}, MACHINE),
        ("0::/\n", {}, MACHINE),
        ("0::/pod/web\n", {V2.format("pod/web"): "150000000\n"}, 150_000_000),
        ("0::/pod/web\n", {V2.format("pod/web"): "max\n", V2.format("pod"): "140000000\n"}, 140_000_000),
        ("0::/pod/web\n", {V2.format("pod/web"): "max\n"}, MACHINE),
        # The group of a container that sees its own group as the mount.
        ("0::/\n", {"memory.max": "130000000\n"}, 130_000_000),
        ("4:memory:/a\n0::/\n", {V1.format("a"): "120000000\n"}, 120_000_000),
        ("4:cpu,memory:/a/b\n", {V1.format("a/b"): UNLIMITED, V1.format("a"): "110000000\n"}, 110_000_000),
        ("4:memory:/a\n", {V1.format("a"): UNLIMITED}, MACHINE),
        ("4:memory:/not/here\n", {V1.format("."): "100000000\n"}, 100_000_000),
        ("4:memory:/odd:name\n", {V1.format("odd:name"): "90000000\n"}, 90_000_000),
        ("4:cpu:/a\n", {V1.format("a"): "80000000\n"}, MACHINE),
    ],
)
def test_the_least_limit_counts(
    tmp_path: Path, groups: str | None, files: dict[str, str], expected: int
) -> None:
    if groups is not None:
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert memory_room.limit(tmp_path) == expected


def test_a_machine_with_plenty_keeps_every_bound() -> None:
    room = memory_room.room(8 << 30)
    assert Limits().within(room) == Limits()
    assert HistoryLimits().within(room) == HistoryLimits()


@pytest.mark.parametrize("limit", [0, 100 << 20, 150 << 20, 256 << 20, 1 << 30])
def test_all_that_clients_can_fill_fits_into_the_room(limit: int) -> None:
    room = memory_room.room(limit)
    limits, history = Limits().within(room), HistoryLimits().within(room)
    assert limits.unread + limits.unanswered + history.bytes + limits.connections * 64 * 1024 <= 0.7 * room
    # And whatever may be sent at all can be.
    assert limits.unanswered >= 2 * limits.body
