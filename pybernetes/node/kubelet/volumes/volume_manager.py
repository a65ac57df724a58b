"""Mounts the volumes of pods, keeps their content up to date and removes them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Container, Sequence
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.discover import discover
from pybernetes.lib.files import trees
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.object_cache import NotSynced
from pybernetes.node.kubelet.volumes import atomic_writer, fs_group, host_mounts
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.image_volumes import ImageVolumes
from pybernetes.node.kubelet.volumes.nested_mounts import make_mount_points, nested_mount_points
from pybernetes.node.kubelet.volumes.volume_inputs import VolumeInputs
from pybernetes.node.kubelet.volumes.volume_kind import (
    ContentVolume,
    MountedVolume,
    PathVolume,
    VolumeKind,
    VolumeRequest,
    add_content,
)
from pybernetes.node.kubelet.volumes.volume_operations import VolumeOperations

_MANY, _LARGE = 100, 1 << 20  # files and bytes that are written beside the event loop
log = logging.getLogger(__name__)


class VolumeManager:
    """The volumes of all pods of a node, below one folder."""

    def __init__(
        self, inputs: VolumeInputs, images: ImageVolumes, metrics: KubeletMetrics | None = None
    ) -> None:
        self.inputs, self.images = inputs, images
        self._operations = VolumeOperations(metrics or KubeletMetrics())
        self.kinds: dict[str, VolumeKind] = discover(
            "pybernetes.node.kubelet.volumes.kinds", "VOLUME", key=lambda kind: kind.source
        )
        self._paths: dict[tuple[str, str], str] = {}  # where volumes are, by uid of the pod and name
        self._owned: set[tuple[str, str]] = set()  # volumes whose files have had their group set
        self._sizes: dict[str, dict[str, int]] = {}  # bytes of files that come from objects, by uid and name

    def folder(self, uid: str) -> Path:
        """Return the folder of everything that belongs to a pod."""
        return self.inputs.directory / uid

    def _request(
        self, pod: Object, volume: Object, nested: Sequence[str] = ()
    ) -> tuple[VolumeKind, VolumeRequest]:
        source = _source_of(volume)
        kind = self.kinds.get(source)
        if kind is None:
            raise VolumeError(
                f'volume "{volume["name"]}": volumes of type {source} are not supported by this kubelet'
            )
        path = self.folder(pod["metadata"]["uid"]) / "volumes" / f"kubernetes.io~{source}" / volume["name"]
        return kind, VolumeRequest(pod, volume["name"], volume.get(source) or {}, path, self.inputs, nested)

    async def mount(self, pod: Object) -> dict[str, MountedVolume]:
        """Mount the volumes of a pod that are not mounted yet; return all of them by name."""
        nested = nested_mount_points(pod)
        mounted = {
            volume["name"]: await self._mount_one(pod, volume, nested.get(volume["name"], ()))
            for volume in pod["spec"].get("volumes", ())
        }
        self._paths |= {
            (pod["metadata"]["uid"], name): volume.path for name, volume in mounted.items() if volume.path
        }
        return mounted

    def measured_path(self, pod: Object, volume: Object) -> str | None:
        """Return where a volume of a pod is, if that is known and what it uses is to be told."""
        try:
            kind, request = self._request(pod, volume)
        except VolumeError:
            return None
        if isinstance(kind, PathVolume) and not kind.measured:
            return None
        known = self._paths.get((pod["metadata"]["uid"], volume["name"]))
        if known is not None:
            return known
        return str(request.path) if request.path.exists() else None

    async def _mount_one(self, pod: Object, volume: Object, nested: Sequence[str]) -> MountedVolume:
        key = pod["metadata"]["uid"], volume["name"]
        with self._operations.mounting(key, _source_of(volume)) as sources:
            mounted = await self._set_up(pod, volume, nested)
            if mounted.source:
                sources.append(mounted.source)
        return mounted

    async def _set_up(self, pod: Object, volume: Object, nested: Sequence[str]) -> MountedVolume:
        kind, request = self._request(pod, volume, nested)
        name = volume["name"]
        try:
            if isinstance(kind, ContentVolume):
                await self._write_if_possible(kind, request)
                return MountedVolume(str(request.path), read_only=True)
            mounted = await kind.mount(request)
        except VolumeError as error:
            raise VolumeError(
                f'MountVolume.SetUp failed for volume "{name}" : {error.message}', error.reason
            ) from None
        except (NotSynced, OSError) as error:
            raise VolumeError(f'MountVolume.SetUp failed for volume "{name}" : {error}') from None
        key = (pod["metadata"]["uid"], name)
        if request.fs_group is not None and mounted.managed and key not in self._owned:
            policy = (pod["spec"].get("securityContext") or {}).get("fsGroupChangePolicy", "Always")
            try:
                await asyncio.to_thread(fs_group.give_to_group, Path(mounted.path), request.fs_group, policy)
            except OSError as error:
                text = f'applyFSGroup failed for volume "{name}" : {error}'
                raise VolumeError(text) from None
            self._owned.add(key)
        return mounted

    async def _write_if_possible(self, kind: ContentVolume, request: VolumeRequest) -> None:
        """Write what a volume has; if that cannot be fetched, a container that starts again gets what the one before had.

        While no API server answers, tokens expire; that is no reason for pods not to run.
        """
        try:
            await self._write(kind, request)
        except (VolumeError, NotSynced) as error:
            uid = request.pod["metadata"]["uid"]
            if (uid, request.name) not in self._paths:
                raise
            log.warning("the volume %s of the pod %s stays as it is: %s", request.name, uid, error)

    async def _write(self, kind: ContentVolume, request: VolumeRequest) -> None:
        files = await kind.files(request)
        sizes = self._sizes.setdefault(request.pod["metadata"]["uid"], {})
        others = sum(size for name, size in sizes.items() if name != request.name)
        sizes[request.name] = add_content(others, files) - others
        fresh = not request.path.exists()
        if fresh:
            request.path.mkdir(parents=True)
        # A kubelet that was killed before it mounted must not leave a secret to the disk.
        if kind.in_memory and not host_mounts.has_own_filesystem(request.path):
            host_mounts.mount("tmpfs", request.path, "tmpfs", options="mode=0755")
            fresh = True
        if fresh:
            os.chmod(request.path, 0o777)
        if request.fs_group is not None:
            os.chown(request.path, -1, request.fs_group)
            os.chmod(request.path, 0o2777)
        if len(files) > _MANY or sizes[request.name] > _LARGE:
            await asyncio.to_thread(atomic_writer.write, request.path, files, request.fs_group)
        else:
            atomic_writer.write(request.path, files, request.fs_group)
        make_mount_points(request.path, request.nested, {path.split("/")[0] for path in files})

    async def refresh(self, pod: Object) -> None:
        """Rewrite the volumes whose content comes from objects, where it changed."""
        for volume in pod["spec"].get("volumes", ()):
            kind, request = self._request(pod, volume)
            if isinstance(kind, ContentVolume) and request.path.exists():
                try:
                    await self._write(kind, request)
                except (NotSynced, OSError) as error:
                    raise VolumeError(
                        f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}'
                    ) from None

    def refresh_delay(self, pod: Object) -> float | None:
        """Return the seconds until files are to be written again although nothing announces a change."""
        uid, now = pod["metadata"]["uid"], self.inputs.clock.now()
        delays = [
            max(1.0, credential.renew_at - now)
            for key, credential in self.inputs.credentials.items()
            if key[0] == uid
        ]
        for volume in pod["spec"].get("volumes", ()):
            source = _source_of(volume)
            kind = self.kinds.get(source)
            delay = kind.refresh_after(volume[source] or {}) if isinstance(kind, ContentVolume) else None
            if delay is not None:
                delays.append(delay)
        return min(delays) if delays else None

    async def unmount(self, uid: str) -> None:
        """Remove a pod's volumes, and everything else of it."""
        folder = self.folder(uid)
        if folder.exists():
            with self._operations.unmounting(uid):
                host_mounts.unmount_below(folder)
                await self.images.release(uid)
            try:
                await asyncio.to_thread(trees.remove_path, folder)
            except OSError as error:
                log.warning("the folder of the pod %s cannot be removed: %s", uid, error)
        self._owned = {key for key in self._owned if key[0] != uid}
        self._paths = {key: path for key, path in self._paths.items() if key[0] != uid}
        self._sizes.pop(uid, None)
        self.inputs.forget(uid)

    def orphans(self, known: Container[str]) -> list[str]:
        """Return the uids of unknown pods that have a folder here."""
        if not self.inputs.directory.exists():
            return []
        return [name for name in os.listdir(self.inputs.directory) if name not in known]


def _source_of(volume: Object) -> str:
    """Return the field of a volume that says what kind it is."""
    return next((key for key in volume if key != "name"), "emptyDir")
