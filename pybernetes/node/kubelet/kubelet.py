"""The kubelet: puts its rooms together and runs them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from pybernetes.api import tracing_configuration
from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import NODES
from pybernetes.lib.clock import Clock
from pybernetes.lib.flags import duration
from pybernetes.lib.network.network import default_address
from pybernetes.lib.tracing import Spans, Tracer
from pybernetes.node.kubelet.backoff import Backoff
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.cri.start_limiter import StartLimiter
from pybernetes.node.kubelet.housekeeping.housekeeping import Housekeeping
from pybernetes.node.kubelet.housekeeping.orphaned_pods import OrphanedPods
from pybernetes.node.kubelet.images.image_access import ImageAccess
from pybernetes.node.kubelet.images.image_puller import ImagePuller
from pybernetes.node.kubelet.images.pull_records import PullRecords
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.node_settings import node_settings
from pybernetes.node.kubelet.node_status import machine, node_allocatable
from pybernetes.node.kubelet.node_status.node_lease import NodeLease
from pybernetes.node.kubelet.node_status.node_status import NodeStatus
from pybernetes.node.kubelet.object_cache import ObjectCache
from pybernetes.node.kubelet.options import Options
from pybernetes.node.kubelet.pod.pod_worker import PodWorker
from pybernetes.node.kubelet.pod.pod_workers import PodWorkers
from pybernetes.node.kubelet.pod.start_steps import StartSteps
from pybernetes.node.kubelet.pod.user_namespaces import UNIT, UserNamespaces
from pybernetes.node.kubelet.pod_admission.pod_admitter import PodAdmitter
from pybernetes.node.kubelet.pod_sources.api_pods import ApiPods
from pybernetes.node.kubelet.pod_sources.mirror_pods import MirrorPods
from pybernetes.node.kubelet.pod_sources.static_pods import StaticPods
from pybernetes.node.kubelet.probes.probe_manager import ProbeManager
from pybernetes.node.kubelet.runtime_watch import RuntimeWatch
from pybernetes.node.kubelet.stats.measured_pod import MeasuredPod
from pybernetes.node.kubelet.stats.summary_provider import SummaryProvider
from pybernetes.node.kubelet.status.status_manager import StatusManager
from pybernetes.node.kubelet.volumes.image_volumes import ImageVolumes
from pybernetes.node.kubelet.volumes.volume_inputs import VolumeInputs
from pybernetes.node.kubelet.volumes.volume_manager import VolumeManager
from pybernetes.runtime.events import Recorder
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
_CGROUPFS = 1  # CRI's number of that driver


def _tracer(configuration: Object | None, node: str) -> Tracer | None:
    """Return what makes spans, if a configuration asks for them."""
    if configuration is None:
        return None
    resource = {"service.name": "kubelet", "host.name": node}
    return Tracer(tracing_configuration.settings(configuration), resource, "tracing of the kubelet")


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
        self.options = options
        self.clock = clock or Clock()
        settings = options.configuration
        # Heartbeats never wait behind the calls that are made for pods, nor events before them.
        self._heartbeat_client = client
        self.client = client.limited(settings["kubeAPIQPS"], settings["kubeAPIBurst"]) if client else None
        self.metrics = KubeletMetrics()
        self.tracer = _tracer(settings["tracing"], options.node_name)
        self.cri = CriClient(
            settings["containerRuntimeEndpoint"], settings["imageServiceEndpoint"], self.metrics.runtime_call,
            options.seconds("runtimeRequestTimeout"), self.tracer,
        )  # fmt: skip
        self.addresses = options.node_ips or (default_address(),)
        self.port = int(settings["port"])
        self.pod_workers = PodWorkers()
        self.workers = self.pod_workers.by_uid
        self.recorder: Recorder | None = None
        if client is not None:
            events = client.limited(settings["eventRecordQPS"], settings["eventBurst"])
            self.recorder = Recorder(
                events, "kubelet", host=options.node_name, clock=self.clock, is_gone=self._is_gone
            )
        self.statuses = StatusManager(client, self.clock, self._object_of, self.metrics.terminated)
        self.static_pods = StaticPods(options, self.clock, self.workers, self._add, self._mirror)
        self.pods: Informer | None = None
        self.node_informer: Informer | None = None
        self._api_pods: ApiPods | None = None
        self._mirror_pods: MirrorPods | None = None
        if client is not None:
            client = self.client
            assert client is not None
            self._api_pods = ApiPods(
                client, options.node_name, self.clock, self.pod_workers, self.statuses,
                add=self._add, mirror_lost=self._mirror,
            )  # fmt: skip
            self.pods = self._api_pods.informer
            self._mirror_pods = MirrorPods(client, self.pods, self.clock, self.static_pods.wanted, self.node)
            self.node_informer = Informer(
                client, NODES, fields=f"metadata.name={options.node_name}", clock=self.clock
            )
        self._write_network = write_network
        self._tasks: list[asyncio.Task[None]] = []
        self._short_tasks: set[asyncio.Task[Any]] = set()
        self.node_status: NodeStatus | None = None
        self.runtime = RuntimeWatch(
            self.cri, self.clock, self.workers, self._soon, self._readiness_changed, self.metrics
        )
        self.context = self._context()
        self.stats = SummaryProvider(
            self.context,
            options.root,
            self._measured_pods,
            options.seconds("volumeStatsAggPeriod"),
            options.runtime_group,
        )
        self.housekeeping = Housekeeping(
            settings, self.context, self.stats, self.workers.values, self._report_node, options.housekeeping
        )
        self.context.admit = PodAdmitter(
            self.context,
            self.pod_workers,
            settings["allowedUnsafeSysctls"],
            self.housekeeping.evictions.refusal,
        ).refusal
        self._orphans = OrphanedPods(self.context)
        self.ready = asyncio.Event()

    def _context(self) -> Context:
        options, settings, workers = self.options, self.options.configuration, self.pod_workers
        objects = ObjectCache(self.client, self.clock, workers.wake_many) if self.client else None
        volume_inputs = VolumeInputs(
            options.root / "pods", self.client, objects, self.clock, self.node, workers.addresses,
            lambda: self.addresses,
        )  # fmt: skip
        crash = (settings.get("crashLoopBackOff") or {}).get("maxContainerRestartPeriod", "300s")
        access = ImageAccess(
            PullRecords(options.root / "image_manager"), settings["imagePullCredentialsVerificationPolicy"],
            settings["preloadedImagesVerificationAllowlist"] or (),
        )  # fmt: skip
        images = ImagePuller(
            self.cri, self.clock, access, serialize=bool(settings["serializeImagePulls"]),
            parallel=int(settings["maxParallelImagePulls"] or 0), qps=settings["registryPullQPS"],
            burst=settings["registryBurst"],
        )  # fmt: skip
        return Context(
            cri=self.cri,
            clock=self.clock,
            settings=node_settings(options),
            cgroups=PodCgroups(
                settings["cgroupRoot"] or "/",
                settings["cgroupDriver"],
                pids=int(settings["podPidsLimit"] or -1),
                cfs_quota=bool(settings["cpuCFSQuota"]),
                cfs_period=int(options.seconds("cpuCFSQuotaPeriod") * 1e6),
            ),
            volumes=VolumeManager(
                volume_inputs, ImageVolumes(self.cri, images, volume_inputs.directory), self.metrics
            ),
            images=images,
            probes=ProbeManager(self.cri, self.clock, self._probe_event, workers.probed),
            backoff=Backoff(longest=float(duration(crash))),
            client=self.client,
            objects=objects,
            recorder=self.recorder,
            addresses=self.addresses,
            start_limiter=StartLimiter(self.clock),
            metrics=self.metrics,
            user_namespaces=UserNamespaces(
                volume_inputs.directory, int((settings["userNamespaces"] or {}).get("idsPerPod") or UNIT)
            ),
            features=lambda: self.runtime.features,
            node=self.node,
            starts=StartSteps(self.clock),
            network_problem=lambda: self.runtime.network_problem,
            other_pods=workers.others,
            spans=self.tracer or Spans(),
        )

    # -- what rooms ask for ------------------------------------------------------------------------------

    def node(self) -> Object:
        """Return the Node object as it is known."""
        if self.node_informer is not None:
            node = self.node_informer.get(self.options.node_name)
            if node is not None:
                return node
        if self.node_status is not None:
            return self.node_status.node
        total = machine.capacity(self.options.root, machine.most_pods(self.options.configuration))
        return {"metadata": {"name": self.options.node_name}, "status": {"allocatable": total}}

    def problems(self) -> list[str]:
        """Return what keeps the node from being ready."""
        return self.runtime.problems()

    def find(self, namespace: str, name: str, uid: str = "") -> PodWorker | None:
        """Return the worker of a pod by name."""
        return self.pod_workers.find(namespace, name, uid)

    def _measured_pods(self) -> list[MeasuredPod]:
        return [
            MeasuredPod(worker.pod, worker.runtime, self.statuses.get(uid) or worker.pod.get("status", {}))
            for uid, worker in self.workers.items()
        ]

    def _probe_event(self, pod: Object, container: Object, reason: str, message: str) -> None:
        self.context.event(pod, "Warning", reason, message, container)

    def _is_gone(self, about: Object) -> bool:
        """Return whether what an event was about is a pod that is not this node's any more."""
        pods = self.pods
        return (
            about["kind"] == "Pod"
            and pods is not None
            and pods.get(f"{about['namespace']}/{about['name']}") is None
        )

    def _object_of(self, pod: Object) -> Object | None:
        if self._api_pods is None:
            return None
        return self._api_pods.object_of(pod, static=pod["metadata"]["uid"] in self.static_pods.pods)

    # -- starting and stopping ---------------------------------------------------------------------------

    async def start(self) -> None:
        """Wait for the runtime, then start working."""
        self._make_folders()
        version = await self.runtime.wait()
        await self._take_driver()
        cgroups = self.context.cgroups
        cgroups.slices = node_allocatable.slices(cgroups.driver)
        cgroups.runtime = version.runtime_name
        await cgroups.run(node_allocatable.enforce, cgroups, self.options)
        self.context.runtime_name = version.runtime_name
        await self.runtime.check()
        await self.runtime.refresh_images()
        if self.client is not None:
            assert self.node_informer is not None and self._heartbeat_client is not None
            self.node_status = NodeStatus(
                self._heartbeat_client, self.clock, self.options, addresses=self.addresses,
                runtime_version=f"{version.runtime_name}://{version.runtime_version}",
                images=lambda: self.runtime.images, problems=self.problems, pressures=lambda: self.housekeeping.evictions.conditions,
                port=lambda: self.port, features=lambda: self.runtime.features, warn=self.context.node_event,
            )  # fmt: skip
            assert self.context.objects is not None
            self.context.objects.start()
            self.node_informer.add_handler(self._node_changed)
            self._spawn(self.node_informer.run(), "node informer")
            self._spawn(self._join(), "node")
        self._spawn(self.runtime.follow(), "runtime events")
        self._spawn(self.runtime.run_relist(self.options.seconds("syncFrequency")), "relist")
        for work, name in self.housekeeping.work():
            self._spawn(work, name)
        for work in self.static_pods.start():
            self._spawn(work, "static pods of a URL")
        if self._api_pods is not None:
            self._spawn(self._api_pods.run(), "pod informer")
            self._spawn(self._clean_orphans(), "orphans")
        else:
            await self._orphans.clean(self.workers)
        self.ready.set()

    def _make_folders(self) -> None:
        """Make the folders of pods and logs, which other users of the machine must not enter: secrets are in them."""
        pods = self.context.volumes.inputs.directory
        for folder in (self.options.root, pods, self.context.settings.logs):
            folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        pods.chmod(0o750)  # it is ours, whoever made it

    async def _join(self) -> None:
        assert self.node_status is not None and self._heartbeat_client is not None
        if self.options.configuration["registerNode"]:
            await self.node_status.register()
        else:  # somebody else makes the Node, now or later
            self.node_status.wake()
        lease = NodeLease(
            self._heartbeat_client, self.clock, self.options.node_name,
            int(self.options.configuration["nodeLeaseDurationSeconds"]), self.node,
        )  # fmt: skip
        self._spawn(lease.run(), "lease")
        self._node_changed(None, self.node_status.node)
        await self.node_status.run()

    async def _clean_orphans(self) -> None:
        assert self.pods is not None
        await self.pods.wait_synced()
        await self._orphans.clean(self.workers)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(_complain)
        self._tasks.append(task)

    def _soon(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._short_tasks.add(task)
        task.add_done_callback(self._short_tasks.discard)
        return task

    async def stop(self) -> None:
        """Stop the kubelet; pods go on."""
        self.static_pods.stop()
        tasks = [*self._tasks, *self._short_tasks]
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
        if self.tracer is not None:
            await asyncio.to_thread(self.tracer.close)

    # -- pods --------------------------------------------------------------------------------------------

    def _add(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        self.context.starts.begin(uid)
        worker = self.workers[uid] = PodWorker(self.context, self.statuses, pod, self._finished)
        self._share()
        if pod["metadata"].get("deletionTimestamp"):
            worker.update(pod)

    def _share(self) -> None:
        """Give the pods of a QoS class together the CPU that they requested together."""
        cgroups, living = self.context.cgroups, self.pod_workers.living()
        if cgroups.slices is None:
            cgroups.share_cpu(living)
        else:
            self._soon(cgroups.run(cgroups.share_cpu, list(living)))

    def _finished(self, uid: str) -> None:
        self.workers.pop(uid, None)
        self._share()
        self.pod_workers.wake_deferred()
        self.static_pods.start_workers()

    def _mirror(self, pod: Object) -> None:
        """Show a static pod in the API as it is, or not at all if its file is gone."""
        if self._mirror_pods is not None:
            self._soon(self._mirror_pods.sync(pod))

    # -- the node ----------------------------------------------------------------------------------------

    def _report_node(self) -> None:
        if self.node_status is not None:
            self.node_status.wake()

    def _readiness_changed(self) -> None:
        self._report_node()
        if not self.problems():
            self.pod_workers.wake_all()

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

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        if new is not None and self.node_status is not None:
            self.node_status.seen(new)
        spec = (new or {}).get("spec", {})
        ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
        own = self.options.configuration.get("podCIDR")
        ranges = ranges or ([own] if own else [])
        if ranges and self._write_network is not None:
            self._write_network(list(ranges))
            self.runtime.check_until_ready(afresh=True)


def _complain(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("%s failed", task.get_name(), exc_info=task.exception())
