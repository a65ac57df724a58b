"""Sub-paths of volumes: what is mounted for a container, however its siblings change the volume meanwhile."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.node.kubelet.volumes import host_mounts
from pybernetes.node.kubelet.volumes.sub_paths import make_sub_path, mount_sub_path, place
from pybernetes.node.stats.filesystem import device_names
from tests.lib.files.swapping import content, swapping
from tests.support import require_root


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    require_root()
    yield place(tmp_path / "pod", "volume", "container", 0)
    host_mounts.unmount_below(tmp_path)


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    root = tmp_path / "volume"
    root.mkdir()
    root.chmod(0o2775)
    return root


def provide(volume: Path, below: str, target: Path) -> None:
    make_sub_path(str(volume), below)
    mount_sub_path(str(volume), below, target)


def test_folders_files_and_sockets(volume: Path, target: Path) -> None:
    (volume / "d").mkdir()
    (volume / "d/file").write_text("text")
    os.mkfifo(volume / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(volume / "socket"))
        for name in ("d", "d/file", "socket", "pipe", "d"):  # a place is used again
            provide(volume, name, target)
            assert os.path.samefile(target, volume / name)
    assert host_mounts.mounts_below(target.parent) == [target], "the mount of an earlier run is gone"


def test_missing_folders_are_made_with_the_mode_of_the_volume(volume: Path, target: Path) -> None:
    (volume / "there").mkdir()
    (volume / "there").chmod(0o700)
    (volume / "link").symlink_to("there")
    provide(volume, "link/new/deep", target)
    assert os.path.samefile(target, volume / "there/new/deep")
    modes = [(volume / path).stat().st_mode & 0o7777 for path in ("there", "there/new", "there/new/deep")]
    assert modes == [0o700, 0o2775, 0o2775]


@pytest.mark.parametrize(
    "below",
    ["out", "out/new", "absolute", "absolute/etc", "dangling", "up/../../outside", "file/new", "host/etc"],
)
def test_links_do_not_lead_out(volume: Path, target: Path, below: str) -> None:
    """CVE-2017-1002101: a sub-path through a link to the host's files is refused, and nothing is made there."""
    outside = volume.parent / "outside"
    outside.mkdir()
    (volume / "file").touch()
    (volume / "up").symlink_to(".")
    for name, where in {
        "out": "../outside",
        "absolute": "/",
        "dangling": "none",
        "host": "/proc/self/root",
    }.items():
        (volume / name).symlink_to(where)
    before = content(outside)
    with pytest.raises(OSError):
        provide(volume, below, target)
    assert host_mounts.mounts_below(volume.parent) == [] and content(outside) == before


def test_no_race_mounts_the_host(volume: Path, target: Path) -> None:
    """CVE-2021-25741, CVE-2021-30465: a sibling that exchanges the folder and a link to the host's root all the time."""
    (volume / "folder/sub").mkdir(parents=True)
    outside = volume.parent / "outside"
    (outside / "sub").mkdir(parents=True)
    (volume / "link").symlink_to(outside)
    inside = (volume / "folder/sub").stat()
    before = content(outside)
    mounted = 0
    with swapping(volume, "folder", "link") as swapper:
        tries = 0
        while tries < 300 or not mounted or swapper.count < 300:
            tries += 1
            try:
                provide(volume, "folder/sub", target)
            except OSError:
                continue
            mounted += 1
            assert os.path.samestat(target.stat(), inside)
    assert content(outside) == before


def test_unmounting_leaves_the_mounts_of_others(volume: Path, target: Path) -> None:
    """What is mounted in a volume on the host, and so seen at the place of a sub-path, stays there."""
    host_mounts.mount("tmpfs", volume, "tmpfs")
    host_mounts.mount("", volume, "", 1 << 20)  # shared, as on most hosts
    (volume / "sub/disk").mkdir(parents=True)
    make_sub_path(str(volume), "sub")
    mount_sub_path(str(volume), "sub", target, "Bidirectional")
    host_mounts.mount("tmpfs", volume / "sub/disk", "tmpfs")
    assert (target / "disk") in host_mounts.mounts_below(target)
    host_mounts.unmount_below(volume.parent / "pod")
    assert host_mounts.mounts_below(volume) == [volume / "sub/disk"]
    assert host_mounts.mounts_below(volume.parent / "pod") == []


@pytest.mark.parametrize(
    "name", ["re\rturn", "f\feed", "new\nline", "\u2028", "bytes\udcff", "a b - c d", "-"]
)
def test_names_of_folders_hide_no_mount(volume: Path, target: Path, name: str) -> None:
    """The kernel names what is mounted in its list of mounts: one name must not keep all pods from being removed."""
    (volume / name).mkdir()
    provide(volume, name, target)
    assert host_mounts.mounts_below(target.parent) == [target]
    assert all(device_names())
