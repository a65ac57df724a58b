"""What a pod uses of the disk."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime
from pybernetes.node.kubelet.stats.disk_stats import DiskStats
from pybernetes.node.kubelet.stats.measured_pod import MeasuredPod
from pybernetes.node.stats.filesystem import filesystem
from tests.node.kubelet.pods import pod

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
