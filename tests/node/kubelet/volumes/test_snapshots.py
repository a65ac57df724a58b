"""Images as folders: mounts of containerd's snapshots."""

from __future__ import annotations

from pathlib import Path

from pybernetes.node.kubelet.cri.containerd import TYPES
from pybernetes.node.kubelet.volumes import host_mounts
from pybernetes.node.kubelet.volumes.snapshots import mount_arguments, mount_snapshot
from tests.support import require_root


def test_mounts_of_snapshots() -> None:
    bind = TYPES["Mount"](type="bind", source="/s/1/fs", options=["ro", "rbind"])
    assert mount_arguments(bind) == (host_mounts.MS_BIND | host_mounts.MS_REC, "")
    overlay = TYPES["Mount"](
        type="overlay", source="overlay", options=["index=off", "lowerdir=/s/2/fs:/s/1/fs"]
    )
    assert mount_arguments(overlay) == (0, "index=off,lowerdir=/s/2/fs:/s/1/fs")


def test_many_layers(tmp_path: Path) -> None:
    """More than fits into the page of options that the kernel takes."""
    require_root()
    folder, target = tmp_path / ("long" * 20), tmp_path / "target"
    target.mkdir()
    for number in range(60):
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / f"file{number}").touch()
    lower = ":".join(str(folder / str(number)) for number in range(60))
    assert len(lower) > 4096
    mount_snapshot(TYPES["Mount"](type="overlay", source="overlay", options=[f"lowerdir={lower}"]), target)
    try:
        assert len(list(target.iterdir())) == 60
    finally:
        host_mounts.unmount(target)
