"""Mounts inside of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.node.kubelet.volumes.nested_mounts import make_mount_points, nested_mount_points
from tests.node.kubelet.pods import pod


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        ({"v": "/v"}, []),
        ({"v": "/v", "other": "/v/nested"}, ["nested"]),
        ({"v": "/v/", "other": "/v//a/./b"}, ["a/b"]),
        ({"v": "v", "other": "/v/a"}, ["a"]),
        (
            {"v": "/v", "a": "/v/nested", "b": "/v/nested/deeper", "c": "/v/nested-too"},
            ["nested", "nested-too"],
        ),
        ({"v": "/v", "other": "/vv/nested"}, []),
        ({"other": "/v", "v": "/v/nested"}, []),
        ({"v": "/v", "other": "/v/../etc"}, []),
        ({"v": "/v", "a": "/v-w", "b": "/v/x", "c": "/v/x-y/z", "d": "/v.w/x"}, ["x", "x-y/z"]),
    ],
)
def test_where_others_are_mounted(mounts: dict[str, str], expected: list[str]) -> None:
    listed = [{"name": name, "mountPath": path} for name, path in mounts.items()]
    points = nested_mount_points(pod(containers=[{"name": "c", "volumeMounts": listed}]))
    assert points.get("v", []) == expected


def test_a_sub_path_has_no_place_for_others() -> None:
    mounts = [{"name": "v", "mountPath": "/v", "subPath": "s"}, {"name": "o", "mountPath": "/v/nested"}]
    assert nested_mount_points(pod(initContainers=[{"name": "c", "volumeMounts": mounts}])) == {}


def test_mount_points_are_folders_and_do_not_replace_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    make_mount_points(tmp_path, ["a/b", "file"], {"file"})
    assert (tmp_path / "a/b").is_dir() and not (tmp_path / "file").exists()
    with pytest.raises(OSError):
        make_mount_points(tmp_path, ["link/new"])
