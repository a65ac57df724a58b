"""Volumes that are not what a pod takes them for, or that ask for what cannot be done: they are refused."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.kinds.persistent_volume_claim import check_volume
from tests.node.kubelet.pods import pod


@pytest.mark.parametrize(
    ("volume", "use", "problem"),
    [
        ({}, "volumeMounts", None),
        ({"volumeMode": "Filesystem"}, "volumeMounts", None),
        ({}, "volumeDevices", "volume v has volumeMode Filesystem, but is specified in volumeDevices"),
        ({"volumeMode": "Block"}, "volumeMounts", "volume v has volumeMode Block, but is specified in volumeMounts"),
        ({"volumeMode": "Block"}, "volumeDevices", "block volumes are not supported by this kubelet"),
        ({"mountOptions": ["ro"]}, "volumeMounts", "mount options are not supported for this volume type"),
    ],
)  # fmt: skip
def test_what_a_volume_is_used_as(volume: dict[str, Any], use: str, problem: str | None) -> None:
    spec = pod({use: [{"name": "v"}]})["spec"]
    if problem is None:
        check_volume(volume, "v", spec)
        return
    with pytest.raises(VolumeError) as raised:
        check_volume(volume, "v", spec)
    assert raised.value.message == problem
