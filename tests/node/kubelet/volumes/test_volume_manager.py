"""The kinds of volumes: which there are, and that one is added by adding a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pybernetes.client.refs import PERSISTENT_VOLUMES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.volumes import host_mounts, kinds
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.image_volumes import ImageVolumes
from pybernetes.node.kubelet.volumes.volume_inputs import VolumeInputs
from pybernetes.node.kubelet.volumes.volume_manager import VolumeManager
from tests.added_files import added_file
from tests.node.kubelet.pods import pod
from tests.support import require_root

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


async def test_what_comes_from_objects_is_read_only_and_carries_other_mounts(tmp_path: Path) -> None:
    """CVE-2017-1002102: no container can write to the volumes whose files the kubelet writes."""
    require_root()
    items = [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]
    sources: dict[str, Any] = {
        "downwardAPI": {"items": items},
        "projected": {"sources": [{"downwardAPI": {"items": items}}]},
    }
    mounts = [{"name": "downwardAPI", "mountPath": "/v"}, {"name": "e", "mountPath": "/v/nested/deep"}]
    given = pod(
        volumes=[{"name": name, name: source} for name, source in sources.items()],
        containers=[{"name": "c", "volumeMounts": mounts}],
    )
    volumes = manager(tmp_path / "pods")
    try:
        mounted = await volumes.mount(given)
        assert [volume.read_only for volume in mounted.values()] == [True, True]
        path = Path(mounted["downwardAPI"].path)
        assert (path / "nested/deep").is_dir()
        # A kubelet that was killed between making the folder and mounting it: secrets do not go to the disk.
        host_mounts.unmount(path)
        await volumes.mount(given)
        assert os.path.ismount(path) and (path / "name").read_text() == given["metadata"]["name"]
    finally:
        await volumes.unmount("u")
    assert volumes.orphans(set()) == []


class OneToken:
    """An API server that gives one token of an hour and is not there after that."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock, self.asked = clock, 0

    async def create(self, *words: Any, **options: Any) -> Any:
        self.asked += 1
        if self.asked > 1:
            raise ConnectionRefusedError("connection refused")
        expires = rfc3339.seconds(self.clock.now() + 3600)
        return {"status": {"token": "t1", "expirationTimestamp": expires}}


async def test_containers_start_again_hours_after_the_last_api_server_answered(tmp_path: Path) -> None:
    require_root()
    clock = ManualClock()
    client: Any = OneToken(clock)
    volumes = VolumeManager(VolumeInputs(tmp_path / "pods", client, None, clock, dict), NoImages())
    given = pod(
        volumes=[{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]
    )
    try:
        before = await volumes.mount(given)
        await clock.advance(10 * 3600)
        with pytest.raises(VolumeError, match="failed to fetch token"):
            await volumes.refresh(given)  # which is tried again, and harms nobody
        assert await volumes.mount(given) == before
        assert (Path(before["v"].path) / "token").read_text() == "t1"
        # A pod that never had a token does not start without one.
        other = {**given, "metadata": {**given["metadata"], "uid": "other"}}
        with pytest.raises(VolumeError, match="failed to fetch token"):
            await volumes.mount(other)
    finally:
        for uid in ("u", "other"):
            await volumes.unmount(uid)


async def test_what_is_mounted_in_a_volume_is_not_removed_with_it(tmp_path: Path) -> None:
    """What a container mounted through to the host, under whatever name, is unmounted and not emptied."""
    require_root()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    volumes = manager(tmp_path / "pods")
    mounted = await volumes.mount(pod(volumes=[{"name": "v", "emptyDir": {}}]))
    inside = Path(mounted["v"].path) / "täglich "
    inside.mkdir()
    (Path(mounted["v"].path) / "link").symlink_to(outside)
    host_mounts.mount(str(outside), inside, "", host_mounts.MS_BIND)
    await volumes.unmount("u")
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert volumes.orphans(set()) == [] and host_mounts.mounts_below(tmp_path) == []


async def test_repositories_are_not_cloned(tmp_path: Path) -> None:
    """CVE-2024-10220, CVE-2025-1767: a gitRepo volume, whose hooks would run on the node, is not supported."""
    volumes = manager(tmp_path)
    with pytest.raises(VolumeError, match="volumes of type gitRepo are not supported"):
        await volumes.mount(pod(volumes=[{"name": "v", "gitRepo": {"repository": "https://example.test"}}]))


async def test_a_kind_that_is_not_there_is_named(tmp_path: Path) -> None:
    volumes = manager(tmp_path)
    with pytest.raises(VolumeError, match="volumes of type csi are not supported"):
        await volumes.mount(pod(volumes=[{"name": "v", "csi": {"driver": "d"}}]))


def repeated(count: int, path: str = "{}") -> dict[str, Any]:
    """Return a source of files that all have the annotations."""
    field = {"fieldPath": "metadata.annotations"}
    return {"items": [{"path": path.format(number), "fieldRef": field} for number in range(count)]}


@pytest.mark.parametrize(
    "volumes",
    [
        [{"downwardAPI": repeated(100_000)}],
        [{"downwardAPI": repeated(200)}] * 100,
        [{"projected": {"sources": [{"downwardAPI": repeated(1, "same")}] * 50_000}}],
    ],
)
async def test_a_pod_does_not_fill_the_memory_with_files(
    volumes: list[dict[str, Any]], tmp_path: Path
) -> None:
    """The files of secrets are in the node's memory, and one key can become any number of files."""
    require_root()
    given = pod(volumes=[{"name": f"v{number}", **volume} for number, volume in enumerate(volumes)])
    given["metadata"]["annotations"] = {"a": "x" * 250_000}
    manager_ = manager(tmp_path / "pods")
    try:
        with pytest.raises(VolumeError, match="have more than 134217728 bytes"):
            await manager_.mount(given)
        written = sum(path.stat().st_size for path in (tmp_path / "pods").rglob("*") if path.is_file())
        assert written <= 2 * 134217728  # each file is seen twice, as a link leads to it
    finally:
        await manager_.unmount("u")
    assert manager_.orphans(set()) == []
    small = pod(volumes=[{"name": "v0", "downwardAPI": repeated(150)}])  # many: beside the event loop
    try:
        path = Path((await manager_.mount(small))["v0"].path)
        assert (path / "149").read_text() == (path / "0").read_text() != ""
        await manager_.refresh(small)
    finally:
        await manager_.unmount("u")


class OneVolume:
    """An API server with one claim and its volume."""

    def __init__(self, volume: Any) -> None:
        self.volume = {"metadata": {}, **volume}
        self.volume["spec"]["claimRef"] = {"uid": "c"}

    async def get(self, ref: Any, name: str, namespace: str = "") -> Any:
        if ref is PERSISTENT_VOLUMES:
            return self.volume
        return {"metadata": {"uid": "c"}, "spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}}


@pytest.mark.parametrize(
    ("field", "annotations", "read_only", "given"),
    [
        ("hostPath", {}, False, False),  # what an administrator shows of the machine
        ("hostPath", {}, True, False),
        ("hostPath", {"pv.kubernetes.io/provisioned-by": "x"}, False, True),  # made for the claim
        ("local", {}, False, True),
        ("local", {}, True, False),
    ],
)
async def test_a_pod_takes_no_files_of_the_machine_with_its_group(
    tmp_path: Path, field: str, annotations: dict[str, str], read_only: bool, given: bool
) -> None:
    require_root()
    folder = tmp_path / "machine"
    folder.mkdir()
    (folder / "shadow").touch(0o600)
    client: Any = OneVolume(
        {"metadata": {"annotations": annotations}, "spec": {field: {"path": str(folder)}}}
    )
    volumes = VolumeManager(VolumeInputs(tmp_path / "pods", client, None, ManualClock(), dict), NoImages())
    claim = {"claimName": "c", "readOnly": read_only}
    await volumes.mount(
        pod(volumes=[{"name": "v", "persistentVolumeClaim": claim}], securityContext={"fsGroup": 3000})
    )
    status = (folder / "shadow").stat()
    assert (status.st_gid, status.st_mode & 0o7777) == ((3000, 0o660) if given else (0, 0o600))
