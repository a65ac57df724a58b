"""The summary of a node: what it and its pods use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState
from pybernetes.node.kubelet.stats import summary_fields
from pybernetes.node.kubelet.stats.disk_stats import DiskStats
from pybernetes.node.kubelet.stats.measured_pod import MeasuredPod
from pybernetes.node.stats import host
from pybernetes.node.stats.cgroup import Reader, Usage
from pybernetes.node.stats.filesystem import Filesystem
from pybernetes.node.stats.network import Interface, interfaces

_LEAST_SECONDS = 1.0  # between two readings of CPU time that make a rate
# How many readings there are before it is looked whether their groups are still there.
_LEAST_READINGS = 64


class SummaryProvider:
    """Measures the node and its pods when it is asked to; nothing is sampled in between."""

    def __init__(
        self,
        context: Context,
        root: Path,
        pods: Callable[[], Iterable[MeasuredPod]],
        keep: float = 60.0,
        runtime_group: str = "",
    ) -> None:
        self._runtime_group = runtime_group
        self._context, self.pods = context, pods
        self.disks = DiskStats(context, root, keep)
        self.groups = Reader(context.cgroups.mount)
        self._readings: dict[str, tuple[tuple[float, int], tuple[float, int] | None]] = {}
        self._room = _LEAST_READINGS
        self._started = context.clock.now()
        self._booted = host.boot_time()

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
        """Return the control groups of all pods and of the QoS classes."""
        cgroups = self._context.cgroups
        groups = (cgroups.all_pods, cgroups.qos_group("burstable"), cgroups.qos_group("besteffort"))
        return ["/" + cgroups.folder(group) for group in groups]

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

    # -- the summary -------------------------------------------------------------------------------------

    async def summary(self, *, brief: bool = False) -> Object:
        """Return the whole summary; ``brief`` leaves out everything but CPU and memory, and says when each was read.

        The moments, in seconds, are under the pods' uids, and that of the node under no name.
        """
        now = self._context.clock.now()
        if brief:
            moments: dict[str, float] = {}
            measured = await self._measure(list(self.pods()), now, moments)
            moments[""] = self._context.clock.now()
            node = self._node(now, brief=True)
            return {"node": node, "pods": [stats for _, stats in measured], "moments": moments}
        images = await self.disks.image_filesystem()
        return {
            "node": self._with_disks(self._node(now, brief=False), now, *images),
            "pods": await self._pods(list(self.pods()), now, images[0], fresh=False),
        }

    async def node(self) -> Object:
        """Return the stats of the node alone, which costs next to nothing."""
        now = self._context.clock.now()
        disk = await self.disks.last_image_filesystem()
        return self._with_disks(self._node(now, brief=False), now, disk, 0)

    async def of(self, uids: set[str], *, disks: bool = True) -> dict[str, Object]:
        """Return the stats of some pods by uid; with ``disks`` their folders are measured anew, which may take long."""
        now = self._context.clock.now()
        chosen = [measured for measured in self.pods() if measured.uid in uids]
        if not disks:
            return {stats["podRef"]["uid"]: stats for _, stats in await self._measure(chosen, now)}
        disk, _ = await self.disks.image_filesystem()
        return {stats["podRef"]["uid"]: stats for stats in await self._pods(chosen, now, disk, fresh=True)}

    def _with_disks(self, node: Object, now: float, images: Filesystem | None, taken: int) -> Object:
        disk = self.disks.node_filesystem()
        if disk is not None:
            node["fs"] = summary_fields.filesystem(disk, now)
        if images is not None:  # images and writable layers share the runtime's filesystem
            whole = summary_fields.filesystem(images, now)
            node["runtime"] = {"imageFs": whole | {"usedBytes": taken}, "containerFs": whole}
        return node

    async def _pods(
        self, chosen: list[MeasuredPod], now: float, images: Filesystem | None, *, fresh: bool
    ) -> list[Object]:
        layers, disk = await self.disks.layers(), self.disks.node_filesystem()
        pods = []
        for measured, stats in await self._measure(chosen, now):
            if disk is not None:
                await self.disks.add(stats, measured, now, disk, images or disk, layers, fresh)
            pods.append(stats)
        self.disks.forget()
        return pods

    async def _measure(
        self, pods: list[MeasuredPod], now: float, moments: dict[str, float] | None = None
    ) -> list[tuple[MeasuredPod, Object]]:
        """Read the control groups of pods in a thread: they are many small files. When each was read goes into ``moments``."""

        def read() -> list[tuple[MeasuredPod, Object]]:
            pairs = []
            for pod in pods:
                if moments is not None:  # a thread may have to wait for its turn
                    moments[pod.uid] = self._context.clock.now()
                pairs.append((pod, self._pod(pod, now)))
            return [(pod, stats) for pod, stats in pairs if stats is not None]

        if len(self._readings) > self._room:
            self._forget()
        return await asyncio.to_thread(read)

    def _forget(self) -> None:
        """Drop the readings of groups that are gone."""
        shared, own = (
            {"/", self._runtime_group, self.pods_group},
            {self.pod_group(pod.pod) for pod in self.pods()},
        )
        self._readings = {
            group: reading
            for group, reading in list(self._readings.items())
            if group in shared or group in own or group.rpartition("/")[0] in own
        }
        self._room = max(_LEAST_READINGS, 2 * len(self._readings))

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
        groups = {"runtime": self._runtime_group, "pods": self.pods_group}
        return [
            self._system_group(name, group, usage, now)
            for name, group in groups.items()
            if group and (usage := self.groups.read(group)) is not None
        ]

    def _system_group(self, name: str, group: str, usage: Usage, now: float) -> Object:
        return {
            "name": name, "startTime": rfc3339.seconds(self._started),
            "cpu": summary_fields.cpu(usage, self._rate(group, usage.cpu), now),
            "memory": summary_fields.memory(usage, now), "swap": summary_fields.swap(usage, now),
        }  # fmt: skip

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
