"""What the disk of a node has and what its pods use of it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri import specs
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.stats import summary_fields
from pybernetes.node.kubelet.stats.measured_pod import MeasuredPod
from pybernetes.node.kubelet.volumes.local_storage import is_ephemeral
from pybernetes.node.stats.filesystem import Filesystem, filesystem, used

_AT_ONCE = 2  # folders that are measured, beside other work in threads


class DiskStats:
    """Measures filesystems, writable layers, logs and volumes. Folders below ``root`` are the kubelet's own."""

    def __init__(self, context: Context, root: Path, keep: float) -> None:
        self._context, self._root = context, root
        self._keep = keep  # how many seconds the size of a folder is cached
        self._sizes: dict[str, tuple[float, tuple[int, int]]] = {}
        self._image_path = ""
        self._measuring: dict[str, asyncio.Task[tuple[int, int]]] = {}
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def image_filesystem(self) -> tuple[Filesystem | None, int]:
        """Return the filesystem that the runtime keeps images on, and how much of it they use."""
        taken = 0
        try:
            info = await self._context.cri.image_fs_info()
            for image_disk in info.image_filesystems:
                self._image_path = image_disk.fs_id.mountpoint
                taken = image_disk.used_bytes.value
        except CriError:
            pass
        return (filesystem(self._image_path) if self._image_path else None), taken

    async def last_image_filesystem(self) -> Filesystem | None:
        """Return the filesystem that images are on; the runtime is asked only the first time."""
        return filesystem(self._image_path) if self._image_path else (await self.image_filesystem())[0]

    def node_filesystem(self) -> Filesystem | None:
        """Return the filesystem that the kubelet keeps pods on."""
        return filesystem(self._root)

    async def layers(self) -> dict[str, tuple[int, int]]:
        """Return the bytes and inodes of each container's writable layer, by id."""
        try:
            containers = await self._context.cri.list_container_stats()
        except CriError:
            return {}
        return {
            container.attributes.id: (
                container.writable_layer.used_bytes.value,
                container.writable_layer.inodes_used.value,
            )
            for container in containers
        }

    async def _size(self, path: str, seconds: float) -> tuple[int, int]:
        known = self._sizes.get(path)
        if known is not None and self._context.clock.monotonic() - known[0] < seconds:
            return known[1]
        task = self._measuring.get(path)
        if task is None:
            task = self._measuring[path] = asyncio.create_task(self._measure(path))
            task.add_done_callback(lambda _: self._measuring.pop(path, None))
        return await asyncio.shield(task)  # others may wait for it as well

    async def _measure(self, path: str) -> tuple[int, int]:
        """Measure a folder; a few at a time, as somebody can fill one so that it takes very long."""
        async with self._slots:
            now = self._context.clock.monotonic()
            size = await asyncio.to_thread(used, path)
        self._sizes[path] = (now, size)
        return size

    async def add(
        self, stats: Object, measured: MeasuredPod, now: float, node: Filesystem, images: Filesystem,
        layers: dict[str, tuple[int, int]], fresh: bool,
    ) -> None:  # fmt: skip
        """Add to the stats of a pod what it uses of the disk; ``fresh`` measures its folders anew."""
        logs = specs.log_folder(self._context.settings.logs, measured.pod)
        running = {run.name: run.id for run in measured.runtime.running}
        parts: list[Object | None] = []
        for container in stats["containers"]:
            layer = layers.get(running.get(container["name"], ""), (0, 0))
            container["rootfs"] = summary_fields.filesystem(images, now, layer)
            container["logs"] = summary_fields.filesystem(node, now, _files(logs / container["name"]))
            parts += [container["rootfs"], container["logs"]]
        listed = await self._volumes(measured, now, fresh)
        if listed:
            stats["volume"] = listed
        ephemeral = {
            volume["name"] for volume in measured.pod["spec"].get("volumes", ()) if is_ephemeral(volume)
        }
        parts += [volume for volume in listed if volume["name"] in ephemeral]
        size, count = summary_fields.total(parts)
        folder = self._context.volumes.folder(measured.uid)
        # What containers can write to besides: their /etc/hosts, and the files of their termination messages.
        for more in (
            _files(folder, "etc-hosts"),
            await self._size(str(folder / "containers"), 0.0 if fresh else self._keep),
        ):
            size, count = size + more[0], count + more[1]
        stats["ephemeral-storage"] = summary_fields.filesystem(node, now, (size, count))

    async def _volumes(self, measured: MeasuredPod, now: float, fresh: bool) -> list[Object]:
        stats = []
        for volume in measured.pod["spec"].get("volumes", ()):
            path = self._context.volumes.measured_path(measured.pod, volume)
            disk = filesystem(path) if path is not None else None
            if disk is None or path is None:
                continue
            claim = _claim(measured.pod, volume)
            # A filesystem of its own knows its usage; a folder is measured.
            whole = claim or os.path.ismount(path)
            size = None if whole else await self._size(path, 0.0 if fresh else self._keep)
            entry = summary_fields.filesystem(disk, now, size) | {"name": volume["name"]}
            if claim:
                entry["pvcRef"] = {"name": claim, "namespace": measured.pod["metadata"]["namespace"]}
            stats.append(entry)
        return stats

    def forget(self) -> None:
        """Drop the sizes that would be measured anew: of folders that are gone nobody asks again."""
        oldest = self._context.clock.monotonic() - self._keep
        self._sizes = {path: known for path, known in self._sizes.items() if known[0] > oldest}


def _files(folder: Path, *names: str) -> tuple[int, int]:
    """Return bytes and inodes of the files directly in a folder, or of some of them."""
    size = count = 0
    try:
        for name in names or os.listdir(folder):
            status = os.lstat(folder / name)
            size, count = size + status.st_blocks * 512, count + 1
    except OSError:
        pass
    return size, count


def _claim(pod: Object, volume: Object) -> str:
    if "persistentVolumeClaim" in volume:
        return volume["persistentVolumeClaim"]["claimName"]
    return f"{pod['metadata']['name']}-{volume['name']}" if "ephemeral" in volume else ""
