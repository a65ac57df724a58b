"""The kinds of volumes: which there are, and that one is added by adding a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.volumes import kinds
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.image_volumes import ImageVolumes
from pybernetes.node.kubelet.volumes.volume_inputs import VolumeInputs
from pybernetes.node.kubelet.volumes.volume_manager import VolumeManager
from tests.added_files import added_file
from tests.node.kubelet.pods import pod

NEW_KIND = '''
"""greeting: a folder with one file."""

from pybernetes.node.kubelet.volumes.volume_kind import ContentVolume, VolumeFile, VolumeRequest


async def _files(request: VolumeRequest) -> dict[str, VolumeFile]:
    return {"hello": VolumeFile(request.source["text"].encode(), 0o644)}


VOLUME = ContentVolume("greeting", _files, refresh_after=lambda source: 7.0)
'''


class NoImages(ImageVolumes):
    """The images of a node that has none."""

    def __init__(self) -> None:
        pass

    async def release(self, uid: str) -> None:
        pass


def manager(directory: Path) -> VolumeManager:
    return VolumeManager(VolumeInputs(directory, None, None, ManualClock(), dict), NoImages())


def test_the_kinds_of_volumes(tmp_path: Path) -> None:
    assert sorted(manager(tmp_path).kinds) == [
        "configMap", "downwardAPI", "emptyDir", "ephemeral", "hostPath", "image", "persistentVolumeClaim",
        "projected", "secret",
    ]  # fmt: skip


async def test_a_kind_is_added_by_adding_a_file(tmp_path: Path) -> None:
    greeting = pod(volumes=[{"name": "v", "greeting": {"text": "hi"}}])
    with added_file(kinds.__name__, tmp_path, "greeting", NEW_KIND):
        volumes = manager(tmp_path / "pods")
        mounted = await volumes.mount(greeting)
    assert (Path(mounted["v"].path) / "hello").read_text() == "hi"
    assert volumes.measured_path(greeting, greeting["spec"]["volumes"][0]) == mounted["v"].path
    assert volumes.refresh_delay(greeting) == 7.0
    assert volumes.orphans(set()) == ["u"]
    await volumes.unmount("u")
    assert volumes.orphans(set()) == []


async def test_a_kind_that_is_not_there_is_named(tmp_path: Path) -> None:
    volumes = manager(tmp_path)
    with pytest.raises(VolumeError, match="volumes of type csi are not supported"):
        await volumes.mount(pod(volumes=[{"name": "v", "csi": {"driver": "d"}}]))
