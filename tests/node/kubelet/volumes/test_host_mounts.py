"""Mounts below a folder, whatever they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.node.kubelet.volumes import host_mounts
from tests.support import require_root


def test_everything_below_a_folder_is_unmounted(tmp_path: Path) -> None:
    require_root()
    root = tmp_path / "pod"
    names = [
        "plain",
        "with space",
        "täglich",
        "back\\slash",
        "new\nline",
        "re\rturn",
        "f\feed",
        "plain/deeper",
    ]
    for name in names:
        (root / name).mkdir(parents=True)
        host_mounts.mount("tmpfs", root / name, "tmpfs")
    (tmp_path / "pod2").mkdir()
    host_mounts.mount("tmpfs", tmp_path / "pod2", "tmpfs")
    try:
        assert sorted(host_mounts.mounts_below(root)) == sorted(root / name for name in names)
        host_mounts.unmount_below(root)
        assert host_mounts.mounts_below(tmp_path) == [tmp_path / "pod2"]
    finally:
        host_mounts.unmount_below(tmp_path)


def test_mounts_that_others_hide(tmp_path: Path) -> None:
    """A folder stands where something hidden is mounted: it is unmounted with what hides it."""
    require_root()
    root = tmp_path / "pod"
    root.mkdir()
    (root / "v").mkdir()
    try:
        for _ in range(2):
            host_mounts.mount("tmpfs", root / "v", "tmpfs")
            (root / "v/deeper").mkdir()
            if not host_mounts.mounts_below(root / "v"):
                host_mounts.mount("tmpfs", root / "v/deeper", "tmpfs")
        host_mounts.unmount_below(root)
        assert host_mounts.mounts_below(root) == []
    finally:
        host_mounts.unmount_below(tmp_path)


def test_a_mount_point_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    require_root()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    host_mounts.mount("tmpfs", tmp_path / "real", "tmpfs")
    try:
        host_mounts.unmount(tmp_path / "link")
        assert host_mounts.mounts_below(tmp_path) == [tmp_path / "real"]
    finally:
        host_mounts.unmount_below(tmp_path)
    with pytest.raises(OSError, match="mounting tmpfs"):
        host_mounts.mount("tmpfs", tmp_path / "missing", "tmpfs")
