"""Where the control groups of pods are and what is written there, on both versions and with both drivers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.node.kubelet.cgroups import pod_cgroups
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from tests.node.kubelet.pods import pod


def _pod(quality: str, cpu: str = "", memory: str = "") -> dict[str, Any]:
    amounts = {name: value for name, value in (("cpu", cpu), ("memory", memory)) if value}
    container = {"name": "c", "resources": {"requests": amounts, "limits": amounts}}
    return {"metadata": {"uid": "a-b"}, "spec": {"containers": [container]}, "status": {"qosClass": quality}}


def _version_1(mount: Path) -> None:
    for name in ("cpu", "memory", "pids"):
        (mount / name).mkdir()
        (mount / name / "tasks").write_text("")


@pytest.mark.parametrize(
    ("root", "driver", "quality", "parent", "folder"),
    [
        ("/", "cgroupfs", "Guaranteed", "/kubepods/poda-b", "kubepods/poda-b"),
        ("/", "cgroupfs", "Burstable", "/kubepods/burstable/poda-b", "kubepods/burstable/poda-b"),
        ("/x", "cgroupfs", "BestEffort", "/x/kubepods/besteffort/poda-b", "x/kubepods/besteffort/poda-b"),
        ("/", "systemd", "Guaranteed", "kubepods-poda_b.slice", "kubepods.slice/kubepods-poda_b.slice"),
        ("/", "systemd", "Burstable", "kubepods-burstable-poda_b.slice",
         "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice"),
    ],
)  # fmt: skip
def test_where_groups_are(
    root: str, driver: str, quality: str, parent: str, folder: str, tmp_path: Path
) -> None:
    cgroups = PodCgroups(root, driver, tmp_path)
    assert cgroups.parent(_pod(quality)) == parent and cgroups.folder(parent) == folder
    end = "id" if driver == "cgroupfs" else "cri-containerd-id.scope"
    assert cgroups.container_folder(parent, "id") == f"{folder}/{end}"
    assert cgroups.folder(parent).startswith(cgroups.folder(cgroups.all_pods))


def test_limits_of_version_2(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    cgroups = PodCgroups("/", "cgroupfs", tmp_path, pids=50)
    pod = _pod("Guaranteed", "500m", "64Mi")
    cgroups.create(pod)
    folder = tmp_path / "kubepods" / "poda-b"
    written = {file.name: file.read_text() for file in folder.iterdir()}
    assert written["cpu.max"] == "50000 100000" and written["memory.max"] == str(64 << 20)
    assert written["pids.max"] == "50" and 1 < int(written["cpu.weight"]) < 100
    assert (tmp_path / "kubepods" / "cgroup.subtree_control").exists()


def test_limits_of_version_1(tmp_path: Path) -> None:
    _version_1(tmp_path)
    cgroups = PodCgroups("/", "cgroupfs", tmp_path)
    cgroups.create(_pod("Burstable", "250m"))
    folder = "kubepods/burstable/poda-b"
    assert (tmp_path / "cpu" / folder / "cpu.shares").read_text() == "256"
    assert (tmp_path / "cpu" / folder / "cpu.cfs_quota_us").read_text() == "25000"
    assert (tmp_path / "memory" / folder / "memory.limit_in_bytes").read_text() == "-1"
    assert not (tmp_path / "pids" / folder / "pids.max").exists()  # not said: the kernel's own limit
    assert cgroups.orphans(set()) == ["/kubepods/burstable/poda-b"] and cgroups.orphans({"a-b"}) == []


def test_pods_of_a_quality_share(tmp_path: Path) -> None:
    _version_1(tmp_path)
    cgroups = PodCgroups("/", "cgroupfs", tmp_path)
    cgroups.create_group(cgroups.qos_group("burstable"))
    shares = tmp_path / "cpu" / "kubepods" / "burstable" / "cpu.shares"
    cgroups.share_cpu([_pod("Burstable", "500m"), _pod("Burstable", "1"), _pod("Guaranteed", "4")])
    assert shares.read_text() == "1536"
    shares.unlink()
    cgroups.share_cpu([_pod("Burstable", "1500m")])  # the same in sum: nothing is written
    assert not shares.exists()
    cgroups.share_cpu([])
    assert shares.read_text() == "2"


def test_groups_that_systemd_names(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    cgroups = PodCgroups("/", "systemd", tmp_path)
    cgroups.create(_pod("Burstable", "1"))
    cgroups.create(_pod("Guaranteed", "1"))
    names = ["kubepods-burstable-poda_b.slice", "kubepods-poda_b.slice"]
    assert cgroups.orphans(set()) == names and cgroups.orphans({"a-b"}) == []


def test_names_of_control_groups(tmp_path: Path) -> None:
    plain = pod_cgroups.PodCgroups("/x", mount=tmp_path)
    assert plain.parent(pod()) == "/x/kubepods/besteffort/podu"
    systemd = pod_cgroups.PodCgroups("/", "systemd", tmp_path)
    assert systemd.parent(pod()) == "kubepods-besteffort-podu.slice"
    assert (
        systemd.folder("kubepods-besteffort-podu.slice")
        == "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu.slice"
    )
