"""What a pod uses of the disk."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime
from pybernetes.node.kubelet.stats import disk_stats
from pybernetes.node.kubelet.stats.disk_stats import DiskStats
from pybernetes.node.kubelet.stats.measured_pod import MeasuredPod
from pybernetes.node.stats.filesystem import filesystem
from tests.node.kubelet.pods import pod
from tests.support import eventually

MEBIBYTE = 1 << 20


async def test_everything_that_a_container_can_write_counts(tmp_path: Path) -> None:
    """CVE-2020-8557: what is written to /etc/hosts, and to the file of a termination message, is the pod's usage."""
    folder, logs = tmp_path / "pods/u", tmp_path / "logs"
    (folder / "containers/c").mkdir(parents=True)
    (folder / "etc-hosts").write_bytes(b"x" * MEBIBYTE)
    (folder / "containers/c/1234").write_bytes(b"x" * 2 * MEBIBYTE)
    (logs / "n_p_u/c").mkdir(parents=True)
    (logs / "n_p_u/c/0.log").write_bytes(b"x" * 4 * MEBIBYTE)
    (tmp_path / "large").write_bytes(b"x" * 64 * MEBIBYTE)
    (logs / "n_p_u/c/link").symlink_to(tmp_path / "large")
    context: Any = SimpleNamespace(
        clock=ManualClock(),
        settings=SimpleNamespace(logs=logs),
        volumes=SimpleNamespace(folder=lambda uid: folder),
    )
    disk = filesystem(tmp_path)
    assert disk is not None
    stats: dict[str, Any] = {"containers": [{"name": "c"}]}
    measured = MeasuredPod(pod(), PodRuntime("u", (), ()), {})
    await DiskStats(context, tmp_path, 60.0).add(stats, measured, 0.0, disk, disk, {}, fresh=True)
    used = stats["ephemeral-storage"]["usedBytes"]
    assert 7 * MEBIBYTE <= used < 8 * MEBIBYTE


async def test_a_folder_is_measured_once_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks meanwhile waits for the same: a folder can be filled so that measuring it takes very long."""
    begun, goes_on = list[str](), threading.Event()

    def used(path: str) -> tuple[int, int]:
        begun.append(path)
        assert goes_on.wait(60)
        return len(path), 1

    monkeypatch.setattr(disk_stats, "used", used)
    stats = DiskStats(SimpleNamespace(clock=ManualClock()), tmp_path, 60.0)  # type: ignore[arg-type]
    asking = [asyncio.create_task(stats._size(path, 0.0)) for path in ("a", "a", "bb", "ccc", "a")]
    await eventually(lambda: len(begun) == 2)
    asking[0].cancel()  # others still wait for it
    goes_on.set()
    assert (await asyncio.gather(*asking[1:])) == [(1, 1), (2, 1), (3, 1), (1, 1)]
    assert sorted(begun) == ["a", "bb", "ccc"]
    assert await stats._size("a", 60.0) == (1, 1) and len(begun) == 3


async def test_sizes_of_folders_that_nobody_asks_for_are_dropped(tmp_path: Path) -> None:
    clock = ManualClock()
    stats = DiskStats(SimpleNamespace(clock=clock), tmp_path, 60.0)  # type: ignore[arg-type]
    for number in range(5):
        await stats._size(str(tmp_path / str(number)), 60.0)
        await clock.advance(20.0)
    stats.forget()
    assert [Path(path).name for path in stats._sizes] == ["3", "4"]
