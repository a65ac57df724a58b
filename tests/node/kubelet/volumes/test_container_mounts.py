"""What is mounted into a container."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from cri_api.v1 import api_pb2 as messages

from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.volumes import host_mounts
from pybernetes.node.kubelet.volumes.container_mounts import container_mounts
from pybernetes.node.kubelet.volumes.errors import ImageVolumeError
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume
from tests.support import require_root


def test_how_a_container_is_told(tmp_path: Path) -> None:
    require_root()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").touch()
    (tmp_path / "link").symlink_to("/etc/passwd")  # in an image its root is meant
    spec = messages.ImageSpec(image="sha256:1", user_specified_image="i:1")
    native, folder = MountedVolume("", True, spec), MountedVolume(str(tmp_path), True, spec)

    def told_of(volume: MountedVolume, **more: Any) -> Any:
        definition = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v", **more}]}
        return container_mounts({"spec": {}}, definition, {"v": volume}, {"D": "etc"}, tmp_path, None)[0]

    told = told_of(native, subPath="missing")
    assert (told.image, told.image_sub_path, told.readonly, told.host_path) == (spec, "missing", True, "")
    place = tmp_path / "volume-subpaths/v/c/0"
    try:
        for given, expected in (({"subPathExpr": "$(D)"}, "etc"), ({"subPath": "link"}, "etc/passwd")):
            told = told_of(folder, **given)
            assert (told.host_path, told.readonly, told.HasField("image")) == (str(place), False, False)
            assert os.path.samefile(place, tmp_path / expected)
    finally:
        host_mounts.unmount_below(tmp_path)
    assert told_of(folder).host_path == str(tmp_path)
    with pytest.raises(
        ImageVolumeError, match=r'^ImageVolumeMountFailed: the path "no" is not in the image "i:1"$'
    ):
        told_of(folder, subPath="no")
    for path in ("/etc", "a/../.."):
        with pytest.raises(ConfigError):
            told_of(native, subPath=path)


@pytest.mark.parametrize(
    ("more", "supported", "expected"),
    [
        ({}, True, False),
        ({"recursiveReadOnly": "Disabled"}, True, False),
        ({"recursiveReadOnly": "IfPossible"}, False, False),
        ({"recursiveReadOnly": "IfPossible"}, True, True),
        ({"recursiveReadOnly": "Enabled"}, True, True),
        ({"recursiveReadOnly": "Enabled"}, False, "but it is not supported by the runtime"),
        ({"recursiveReadOnly": "Enabled", "readOnly": False}, True, "but it is not read-only"),
        (
            {"recursiveReadOnly": "Enabled", "mountPropagation": "HostToContainer"},
            True,
            'but it is not compatible with propagation "HostToContainer"',
        ),
    ],
)
def test_read_only_with_all_below(
    tmp_path: Path, more: dict[str, Any], supported: bool, expected: bool | str
) -> None:
    mount = {"name": "v", "mountPath": "/v", "readOnly": True, **more}
    definition = {"name": "c", "volumeMounts": [mount]}

    def made() -> Any:
        volumes = {"v": MountedVolume(str(tmp_path))}
        return container_mounts({"spec": {}}, definition, volumes, {}, tmp_path, None, supported)[0]

    if isinstance(expected, bool):
        assert (made().readonly, made().recursive_read_only) == (True, expected)
        return
    with pytest.raises(ConfigError) as raised:
        made()
    start = 'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, '
    assert str(raised.value) == start + expected


@pytest.mark.parametrize(
    ("propagation", "expected"),
    [
        ({}, messages.PROPAGATION_PRIVATE),
        ({"mountPropagation": "None"}, messages.PROPAGATION_PRIVATE),
        ({"mountPropagation": "HostToContainer"}, messages.PROPAGATION_HOST_TO_CONTAINER),
        ({"mountPropagation": "Bidirectional"}, messages.PROPAGATION_BIDIRECTIONAL),
    ],
)
def test_whose_later_mounts_are_seen(tmp_path: Path, propagation: dict[str, str], expected: int) -> None:
    definition = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v", **propagation}]}
    volumes = {"v": MountedVolume(str(tmp_path))}
    made = container_mounts({"spec": {}}, definition, volumes, {}, tmp_path, None)[0]
    assert made.propagation == expected
