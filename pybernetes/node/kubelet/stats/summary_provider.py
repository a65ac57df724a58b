"""The summary of a node: what it and its pods use."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri import specs
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState, PodRuntime
from pybernetes.node.kubelet.stats import summary_fields
from pybernetes.node.kubelet.volumes.local_storage import is_ephemeral
from pybernetes.node.stats import host
from pybernetes.node.stats.cgroup import Reader, Usage
from pybernetes.node.stats.filesystem import Filesystem, filesystem, used
from pybernetes.node.stats.network import Interface, interfaces

_LEAST_SECONDS = 1.0  # between two readings of CPU time that make a rate


@dataclass(frozen=True, slots=True)
class MeasuredPod:
    """A pod to measure."""

    pod: Object
    runtime: PodRuntime
    status: Object

    @property
    def uid(self) -> str:
        return self.pod["metadata"]["uid"]


class SummaryProvider:
    """Measures the node and its pods when it is asked to; nothing is sampled in between."""

    def __init__(
        self, context: Context, root: Path, pods: Callable[[], Iterable[MeasuredPod]], keep: float = 60.0
    ) -> None:
        self._context, self._root, self.pods = context, root, pods
        self._keep = keep  # how many seconds the size of a folder is cached
        self.groups = Reader(context.cgroups.mount)
        self._readings: dict[str, tuple[tuple[float, int], tuple[float, int] | None]] = {}
        self._sizes: dict[str, tuple[float, tuple[int, int]]] = {}
        self._started = context.clock.now()
        self._booted = host.boot_time()
        self._image_path: str = ""

    # -- control groups ----------------------------------------------------------------------------------

    def pod_group(self, pod: Object) -> str:
        """Return the control group of a pod."""
        cgroups = self._context.cgroups
        return "/" + cgroups.folder(cgroups.parent(pod))

    def run_group(self, pod: Object, run: str) -> str:
        """Return the control group of a container or sandbox."""
        cgroups = self._context.cgroups
        return "/" + cgroups.container_folder(cgroups.parent(pod), run)

    @property
    def pods_group(self) -> str:
        """The control group of all pods."""
        return "/" + self._context.cgroups.folder(self._context.cgroups.all_pods)

    def shared_groups(self) -> list[str]:
        """Return the group of all pods and those of the qualities of service."""
        top = self.pods_group
        ends = ("burstable", "besteffort")
        if self._context.cgroups.driver == "systemd":
            word = top.rpartition("/")[2].removesuffix(".slice")
            return [top, *(f"{top}/{word}-{quality}.slice" for quality in ends)]
        return [top, *(f"{top}/{quality}" for quality in ends)]

    def root(self) -> Usage:
        """Return the usage of the machine as a whole."""
        usage = self.groups.read("/") or Usage()
        if self.groups.unified:  # the root of v2 has no memory usage of its own
            info = host.meminfo()
            usage.memory = info.get("MemTotal", 0) - info.get("MemFree", 0)
            usage.swap = info.get("SwapTotal", 0) - info.get("SwapFree", 0)
            usage.working_set = max(0, usage.memory - usage.inactive_file)
        usage.cpu = usage.cpu or host.cpu_time()
        return usage

    def _rate(self, group: str, cpu: int) -> int:
        now = self._context.clock.monotonic()
        last, earlier = self._readings.get(group, ((now, cpu), None))
        if now - last[0] >= _LEAST_SECONDS:
            last, earlier = (now, cpu), last
        self._readings[group] = (last, earlier)
        return summary_fields.rate(earlier, *last)

    # -- disks -------------------------------------------------------------------------------------------

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

    def node_filesystem(self) -> Filesystem | None:
        """Return the filesystem that the kubelet keeps pods on."""
        return filesystem(self._root)

    async def _size(self, path: str, seconds: float) -> tuple[int, int]:
        now = self._context.clock.monotonic()
        known = self._sizes.get(path)
        if known is not None and now - known[0] < seconds:
            return known[1]
        size = await asyncio.to_thread(used, path)
        self._sizes[path] = (now, size)
        return size

    # -- the summary -------------------------------------------------------------------------------------

    async def summary(self, *, brief: bool = False) -> Object:
        """Return the whole summary; ``brief`` leaves out everything but CPU and memory."""
        now = self._context.clock.now()
        if brief:
            measured = await self._measure(list(self.pods()), now)
            return {"node": self._node(now, brief=True), "pods": [stats for _, stats in measured]}
        images = await self.image_filesystem()
        return {
            "node": self._with_disks(self._node(now, brief=False), now, *images),
            "pods": await self._pods(list(self.pods()), now, images[0], fresh=False),
        }

    async def node(self) -> Object:
        """Return the stats of the node alone, which costs next to nothing."""
        now = self._context.clock.now()
        disk = filesystem(self._image_path) if self._image_path else (await self.image_filesystem())[0]
        return self._with_disks(self._node(now, brief=False), now, disk, 0)

    async def of(self, uids: set[str]) -> dict[str, Object]:
        """Return the stats of some pods by uid, with their folders measured anew."""
        now = self._context.clock.now()
        chosen = [measured for measured in self.pods() if measured.uid in uids]
        disk, _ = await self.image_filesystem()
        return {stats["podRef"]["uid"]: stats for stats in await self._pods(chosen, now, disk, fresh=True)}

    def _with_disks(self, node: Object, now: float, images: Filesystem | None, taken: int) -> Object:
        disk = self.node_filesystem()
        if disk is not None:
            node["fs"] = summary_fields.filesystem(disk, now)
        if images is not None:  # images and writable layers share the runtime's filesystem
            whole = summary_fields.filesystem(images, now)
            node["runtime"] = {"imageFs": whole | {"usedBytes": taken}, "containerFs": whole}
        return node

    async def _pods(
        self, chosen: list[MeasuredPod], now: float, images: Filesystem | None, *, fresh: bool
    ) -> list[Object]:
        layers, disk = await self.layers(), self.node_filesystem()
        pods = []
        for measured, stats in await self._measure(chosen, now):
            if disk is not None:
                await self._disks(stats, measured, now, disk, images or disk, layers, fresh)
            pods.append(stats)
        self._forget()
        return pods

    async def _measure(self, pods: list[MeasuredPod], now: float) -> list[tuple[MeasuredPod, Object]]:
        """Read the control groups of pods in a thread: they are many small files."""

        def read() -> list[tuple[MeasuredPod, Object]]:
            pairs = ((pod, self._pod(pod, now)) for pod in pods)
            return [(pod, stats) for pod, stats in pairs if stats is not None]

        return await asyncio.to_thread(read)

    def _node(self, now: float, brief: bool) -> Object:
        usage, total = self.root(), host.memory_total()
        huge = sum(
            quantity.integer(value)
            for name, value in (self._context.node().get("status", {}).get("capacity") or {}).items()
            if name.startswith("hugepages-")
        )
        memory = summary_fields.memory(usage, now, total)
        memory["availableBytes"] = max(0, memory["availableBytes"] - huge)
        node: Object = {
            "nodeName": self._context.node()["metadata"]["name"],
            "systemContainers": self._system(now),
            "startTime": rfc3339.seconds(self._booted),
            "cpu": summary_fields.cpu(usage, self._rate("/", usage.cpu), now),
            "memory": memory,
            "swap": summary_fields.swap(usage, now),
        }
        if not brief:
            highest, present = host.processes()
            node["network"] = summary_fields.network(interfaces(), now)
            node["rlimit"] = {"time": rfc3339.seconds(now), "maxpid": highest, "curproc": present}
        return {key: value for key, value in node.items() if value is not None}

    def _system(self, now: float) -> list[Object]:
        usage = self.groups.read(self.pods_group)
        if usage is None:
            return []
        return [{
            "name": "pods", "startTime": rfc3339.seconds(self._started),
            "cpu": summary_fields.cpu(usage, self._rate(self.pods_group, usage.cpu), now),
            "memory": summary_fields.memory(usage, now), "swap": summary_fields.swap(usage, now),
        }]  # fmt: skip

    def network_of(self, measured: MeasuredPod) -> list[Interface]:
        """Return the interfaces of a pod that has a network of its own."""
        sandbox = measured.runtime.sandbox
        if sandbox is None or measured.pod["spec"].get("hostNetwork"):
            return []
        pids = self.groups.pids(self.run_group(measured.pod, sandbox.id))
        return interfaces(pids[0]) if pids else []

    def _pod(self, measured: MeasuredPod, now: float) -> Object | None:
        meta, group = measured.pod["metadata"], self.pod_group(measured.pod)
        usage = self.groups.read(group)
        if usage is None or not measured.status.get("startTime"):
            return None
        containers, processes = [], 0
        for run in measured.runtime.runs:
            if run.state is not ContainerState.RUNNING:
                continue
            own = self.run_group(measured.pod, run.id)
            run_usage = self.groups.read(own)
            if run_usage is None:
                continue
            processes += run_usage.processes
            stats: Object = {
                "name": run.name, "startTime": rfc3339.seconds(run.started),
                "cpu": summary_fields.cpu(run_usage, self._rate(own, run_usage.cpu), now),
                "memory": summary_fields.memory(run_usage, now), "io": summary_fields.io(run_usage, now),
                "swap": summary_fields.swap(run_usage, now),
            }  # fmt: skip
            containers.append({key: value for key, value in stats.items() if value is not None})
        sandbox = measured.runtime.sandbox
        if sandbox is not None:
            processes += len(self.groups.pids(self.run_group(measured.pod, sandbox.id)))
        pod: Object = {
            "podRef": {"name": meta["name"], "namespace": meta["namespace"], "uid": measured.uid},
            "startTime": measured.status["startTime"],
            "containers": containers,
            "cpu": summary_fields.cpu(usage, self._rate(group, usage.cpu), now),
            "memory": summary_fields.memory(usage, now),
            "io": summary_fields.io(usage, now),
            "network": summary_fields.network(self.network_of(measured), now),
            "process_stats": {"process_count": processes},
            "swap": summary_fields.swap(usage, now),
        }
        return {key: value for key, value in pod.items() if value is not None}

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

    async def _disks(
        self, stats: Object, measured: MeasuredPod, now: float, node: Filesystem, images: Filesystem,
        layers: dict[str, tuple[int, int]], fresh: bool,
    ) -> None:  # fmt: skip
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
            stats["name"] for stats in measured.pod["spec"].get("volumes", ()) if is_ephemeral(stats)
        }
        parts += [volume for volume in listed if volume["name"] in ephemeral]
        size, count = summary_fields.total(parts)
        hosts = _files(self._context.volumes.folder(measured.uid), "etc-hosts")
        stats["ephemeral-storage"] = summary_fields.filesystem(node, now, (size + hosts[0], count + hosts[1]))

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

    def _forget(self) -> None:
        """Drop old readings now and then, so that those of removed groups and folders do not pile up."""
        if len(self._readings) > 4096 or len(self._sizes) > 4096:
            self._readings.clear()
            self._sizes.clear()


def _files(folder: Path, *names: str) -> tuple[int, int]:
    """Return bytes and inodes of the files directly in a folder, or of some of them."""
    size = count = 0
    try:
        for name in names or os.listdir(folder):
            status = os.stat(folder / name)
            size, count = size + status.st_blocks * 512, count + 1
    except OSError:
        pass
    return size, count


def _claim(pod: Object, volume: Object) -> str:
    if "persistentVolumeClaim" in volume:
        return volume["persistentVolumeClaim"]["claimName"]
    return f"{pod['metadata']['name']}-{volume['name']}" if "ephemeral" in volume else ""
