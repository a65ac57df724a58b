"""The kubelet: puts its parts together and runs them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import NODES, PODS
from pybernetes.lib.clock import Clock
from pybernetes.lib.flags import duration
from pybernetes.lib.network import default_address
from pybernetes.node.kubelet import machine, node_allocatable
from pybernetes.node.kubelet.backoff import Backoff
from pybernetes.node.kubelet.cgroups import PodCgroups
from pybernetes.node.kubelet.config import DEFAULTS, Options
from pybernetes.node.kubelet.containers import resolv_conf
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.cri.specs import NodeSettings
from pybernetes.node.kubelet.cri.start_limiter import StartLimiter
from pybernetes.node.kubelet.housekeeping.housekeeping import Housekeeping
from pybernetes.node.kubelet.housekeeping.orphaned_pods import OrphanedPods
from pybernetes.node.kubelet.images import ImagePuller
from pybernetes.node.kubelet.lease import NodeLease
from pybernetes.node.kubelet.node_status import NodeStatus
from pybernetes.node.kubelet.object_cache import ObjectCache
from pybernetes.node.kubelet.pod.pod_worker import PodWorker, WorkerPhase
from pybernetes.node.kubelet.pod_admission import pod_admitter
from pybernetes.node.kubelet.pod_sources import mirror_pods, static_pod
from pybernetes.node.kubelet.pod_sources.static_pods import StaticPods
from pybernetes.node.kubelet.probes.probe_manager import ProbeManager
from pybernetes.node.kubelet.runtime_watch import RuntimeWatch
from pybernetes.node.kubelet.stats.summary_provider import MeasuredPod, SummaryProvider
from pybernetes.node.kubelet.status.status_manager import StatusManager
from pybernetes.node.kubelet.volumes import VolumeManager
from pybernetes.node.kubelet.volumes.base import VolumeInputs
from pybernetes.node.kubelet.volumes.image_volumes import ImageVolumes
from pybernetes.runtime.events import Recorder
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
Fields = dict[str, Any]
_LOG_LINKS = Path("/var/log/containers")  # beside the usual place of logs
_CGROUPFS = 1  # CRI's number of that driver


class Kubelet:
    """One node's kubelet. ``client`` is None for one that runs static pods only."""

    def __init__(
        self,
        options: Options,
        client: Client | None,
        *,
        clock: Clock | None = None,
        write_network: Callable[[list[str]], None] | None = None,
    ) -> None:
        self.options, self.client = options, client
        self.clock = clock or Clock()
        settings = options.configuration
        self.cri = CriClient(settings["containerRuntimeEndpoint"], settings["imageServiceEndpoint"])
        self.addresses = options.node_ips or (default_address(),)
        self.port = int(settings["port"])
        self.workers: dict[str, PodWorker] = {}
        self.recorder = (
            Recorder(client, "kubelet", host=options.node_name, clock=self.clock) if client else None
        )
        self.statuses = StatusManager(client, self.clock, self._shown)
        self.pods: Informer | None = None
        self.node_informer: Informer | None = None
        if client is not None:
            own = f"spec.nodeName={options.node_name}"
            self.pods = Informer(
                client, PODS, fields=own, transform=static_pod.without_managed_fields, clock=self.clock
            )
            self.node_informer = Informer(
                client, NODES, fields=f"metadata.name={options.node_name}", clock=self.clock
            )
        self.manifests = StaticPods(options, self.clock, self.workers, self._add, self._mirror, self._soon)
        self._write_network = write_network
        self._tasks: list[asyncio.Task[None]] = []
        self._small: set[asyncio.Task[Any]] = set()
        self.node_status: NodeStatus | None = None
        self.runtime = RuntimeWatch(self.cri, self.clock, self.workers, self._soon, self._readiness_changed)
        self.context = self._context()
        self.cri.observe = self._count_call
        self.figures = SummaryProvider(
            self.context, options.root, self._subjects, options.seconds("volumeStatsAggPeriod")
        )
        self.upkeep = Housekeeping(
            options.configuration,
            self.context,
            self.figures,
            lambda: self.workers.values(),
            self._pressed,
            options.housekeeping,
        )
        unsafe = options.configuration["allowedUnsafeSysctls"]
        self.context.admit = pod_admitter.PodAdmitter(
            self.context, self.workers, unsafe, self.upkeep.evictions.refusal
        ).refusal
        self._orphans = OrphanedPods(self.context)
        self.ready = asyncio.Event()

    def _context(self) -> Context:
        options, settings = self.options, self.options.configuration
        objects = ObjectCache(self.client, self.clock, self._objects_changed) if self.client else None
        volume_inputs = VolumeInputs(
            options.root / "pods", self.client, objects, self.clock, self.node, self._addresses_of,
            lambda: self.addresses,
        )  # fmt: skip
        crash = (settings.get("crashLoopBackOff") or {}).get("maxContainerRestartPeriod", "300s")
        images = ImagePuller(
            self.cri, self.clock, serialize=bool(settings["serializeImagePulls"]),
            parallel=int(settings["maxParallelImagePulls"] or 0),
        )  # fmt: skip
        resolv = Path(settings["resolvConf"]) if settings["resolvConf"] else None
        node_dns = (
            resolv_conf.parse(resolv.read_text())
            if resolv is not None and resolv.exists()
            else resolv_conf.ResolvConf()
        )
        return Context(
            cri=self.cri,
            clock=self.clock,
            settings=NodeSettings(
                options.root,
                Path(settings["podLogsDir"]),
                resolv_conf.ClusterDns(tuple(settings["clusterDNS"]), settings["clusterDomain"], node_dns),
                machine.memory(),
                bool(settings["seccompDefault"]),
                bool(settings["cpuCFSQuota"]),
                Path("/sys/fs/cgroup/cgroup.controllers").exists() and not settings["singleProcessOOMKill"],
                _LOG_LINKS if settings["podLogsDir"] == DEFAULTS["podLogsDir"] else None,
                options.dead_runs,
            ),
            cgroups=PodCgroups(
                settings["cgroupRoot"] or "/", settings["cgroupDriver"], pids=int(settings["podPidsLimit"] or -1)
            ),
            volumes=VolumeManager(volume_inputs, ImageVolumes(self.cri, images, volume_inputs.directory)),
            images=images,
            probes=ProbeManager(self.cri, self.clock, self._probe_event, self._probed),
            backoff=Backoff(longest=float(duration(crash))),
            client=self.client,
            objects=objects,
            recorder=self.recorder,
            addresses=self.addresses,
            turns=StartLimiter(self.clock),
            node=self.node,
            network_ready=lambda: self.runtime.network_problem,
            others=lambda uid: pod_admitter.other_pods(self.workers, uid),
        )  # fmt: skip

    def _count_call(self, operation: str, seconds: float, failed: bool) -> None:
        metrics, label = self.context.counts, ("operation_type", operation)
        metrics.add("kubelet_runtime_operations_total", label)
        metrics.observe("kubelet_runtime_operations_duration_seconds", seconds, label)
        if failed:
            metrics.add("kubelet_runtime_operations_errors_total", label)
        if operation == "run_podsandbox":
            metrics.add(f"kubelet_started_pods_{'errors_' if failed else ''}total")

    def _pressed(self) -> None:
        if self.node_status is not None:
            self.node_status.poke()

    def _subjects(self) -> list[MeasuredPod]:
        return [
            MeasuredPod(worker.pod, worker.runtime, self.statuses.get(uid) or worker.pod.get("status", {}))
            for uid, worker in self.workers.items()
        ]

    # -- what parts ask for ------------------------------------------------------------------------------

    def node(self) -> Fields:
        """Return the Node object as it is known."""
        if self.node_informer is not None:
            node = self.node_informer.get(self.options.node_name)
            if node is not None:
                return node
        if self.node_status is not None:
            return self.node_status.node
        total = machine.capacity(self.options.root, machine.most_pods(self.options.configuration))
        return {"metadata": {"name": self.options.node_name}, "status": {"allocatable": total}}

    def _addresses_of(self, uid: str) -> tuple[str, ...]:
        worker = self.workers.get(uid)
        return worker.addresses() if worker is not None else ()

    def _probe_event(self, pod: Fields, container: Fields, reason: str, message: str) -> None:
        self.context.event(pod, "Warning", reason, message, container)

    def _objects_changed(self, uids: set[str]) -> None:
        for uid in uids:
            self.poke(uid)

    def poke(self, uid: str) -> None:
        """Wake the worker of a pod."""
        worker = self.workers.get(uid)
        if worker is not None:
            worker.poke()

    def _probed(self, uid: str) -> None:
        worker = self.workers.get(uid)
        if worker is not None:
            worker.probed()

    def _shown(self, pod: Fields) -> Fields | None:
        """Return the API object that stands for a pod: itself, or the mirror of a static one."""
        if self.pods is None:
            return None
        shown = self.pods.get(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}")
        if pod["metadata"]["uid"] in self.manifests.pods:
            return shown if shown is not None and static_pod.is_mirror(shown) else None
        if shown is not None and shown["metadata"]["uid"] != pod["metadata"]["uid"]:
            return None
        return shown or pod

    def find(self, namespace: str, name: str, uid: str = "") -> PodWorker | None:
        """Return the worker of a pod by name."""
        for worker in self.workers.values():
            meta = worker.pod["metadata"]
            if meta["namespace"] == namespace and meta["name"] == name and uid in ("", worker.uid):
                return worker
        return None

    # -- starting and stopping ---------------------------------------------------------------------------

    async def start(self) -> None:
        """Wait for the runtime, then start working."""
        self.options.root.mkdir(parents=True, exist_ok=True)
        version = await self.runtime.wait()
        await self._take_driver()
        node_allocatable.enforce(self.context.cgroups, self.options)
        self.context.runtime_name = version.runtime_name
        await self.runtime.check()
        await self.runtime.look_at_images()
        if self.client is not None:
            assert self.pods is not None and self.node_informer is not None
            self.node_status = NodeStatus(
                self.client, self.clock, self.options, addresses=self.addresses,
                runtime_version=f"{version.runtime_name}://{version.runtime_version}",
                images=lambda: self.runtime.images, problems=self.problems, pressures=lambda: self.upkeep.evictions.conditions,
                port=lambda: self.port,
            )  # fmt: skip
            assert self.context.objects is not None
            self.context.objects.start()
            self.node_informer.add_handler(self._node_changed)
            self._spawn(self.node_informer.run(), "node informer")
            self._spawn(self._join(), "node")
        self._spawn(self.runtime.follow(), "runtime events")
        self._spawn(self.runtime.relist(), "relist")
        for work, name in self.upkeep.work():
            self._spawn(work, name)
        for work in self.manifests.start():
            self._spawn(work, "static pods of a URL")
        if self.pods is not None:
            self.pods.add_handler(self._pod_changed)
            self._spawn(self.pods.run(), "pod informer")
            self._spawn(self._clean_orphans(), "orphans")
        else:
            await self._orphans.clean(set(self.workers))
        self.ready.set()

    async def _join(self) -> None:
        assert self.node_status is not None and self.client is not None
        if self.options.configuration["registerNode"]:
            await self.node_status.register()
        lease = NodeLease(
            self.client, self.clock, self.options.node_name,
            int(self.options.configuration["nodeLeaseDurationSeconds"]), self.node,
        )  # fmt: skip
        self._spawn(lease.run(), "lease")
        self._node_changed(None, self.node_status.node)
        await self.node_status.run()

    async def _clean_orphans(self) -> None:
        assert self.pods is not None
        await self.pods.wait_synced()
        await self._orphans.clean(set(self.workers))

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(_complain)
        self._tasks.append(task)

    def _soon(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._small.add(task)
        task.add_done_callback(self._small.discard)
        return task

    async def stop(self) -> None:
        """Stop the kubelet; pods go on."""
        self.manifests.stop()
        tasks = [*self._tasks, *self._small]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(worker.close() for worker in self.workers.values()))
        await self.context.probes.close()
        await self.statuses.close()
        if self.context.objects is not None:
            await self.context.objects.stop()
        if self.recorder is not None:
            await self.recorder.sender.close()
        await self.cri.close()

    # -- pods --------------------------------------------------------------------------------------------

    def _pod_changed(self, old: Fields | None, new: Fields | None) -> None:
        pod = new if new is not None else old
        assert pod is not None
        if static_pod.is_mirror(pod):
            if new is None or new["metadata"].get("deletionTimestamp"):
                self._soon(self._mirror(pod))
            else:
                uid = new["metadata"]["annotations"][static_pod.MIRROR]
                self.poke(uid)
                self.statuses.seen(uid)
            return
        uid = pod["metadata"]["uid"]
        worker = self.workers.get(uid)
        if new is None:
            if worker is not None:
                worker.remove()
        elif worker is not None:
            worker.update(new)
            self.statuses.seen(uid)
        else:
            self._add(new)

    def _add(self, pod: Fields) -> None:
        uid = pod["metadata"]["uid"]
        worker = self.workers[uid] = PodWorker(self.context, self.statuses, pod, self._finished)
        self._share()
        if pod["metadata"].get("deletionTimestamp"):
            worker.update(pod)

    def _share(self) -> None:
        """Give the pods of a QoS class together the CPU that they requested together."""
        self.context.cgroups.share(
            worker.pod
            for worker in self.workers.values()
            if worker.phase in (WorkerPhase.SYNCING, WorkerPhase.TERMINATING)
        )

    def _finished(self, uid: str) -> None:
        self.workers.pop(uid, None)
        self._share()
        for worker in self.workers.values():
            if worker.deferred:
                worker.poke()
        self.manifests.take_up()

    async def _mirror(self, pod: Fields) -> None:
        """Show a static pod in the API as it is, or not at all if its file is gone."""
        if self.client is not None and self.pods is not None:
            await mirror_pods.show(self.client, self.pods, self.clock, pod, self.manifests.wanted, self.node)

    # -- the node ----------------------------------------------------------------------------------------

    def problems(self) -> list[str]:
        """Return what keeps the node from being ready."""
        return self.runtime.problems()

    def _readiness_changed(self) -> None:
        if self.node_status is not None:
            self.node_status.poke()
        if not self.problems():
            for worker in self.workers.values():
                worker.poke()

    async def _take_driver(self) -> None:
        """Use the runtime's cgroup driver where it tells; the configured one is for runtimes that do not."""
        try:
            driver = (await self.cri.runtime_config()).linux.cgroup_driver
        except CriError:
            return
        name = "cgroupfs" if driver == _CGROUPFS else "systemd"
        if name != self.context.cgroups.driver:
            log.warning("the runtime's cgroup driver is %s and not %s", name, self.context.cgroups.driver)
            self.context.cgroups.driver = name

    def _node_changed(self, old: Fields | None, new: Fields | None) -> None:
        if new is not None and self.node_status is not None:
            self.node_status.seen(new)
        spec = (new or {}).get("spec", {})
        ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
        own = self.options.configuration.get("podCIDR")
        ranges = ranges or ([own] if own else [])
        if ranges and self._write_network is not None:
            self._write_network(list(ranges))
            self.runtime.mend(afresh=True)


def _complain(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("%s failed", task.get_name(), exc_info=task.exception())
