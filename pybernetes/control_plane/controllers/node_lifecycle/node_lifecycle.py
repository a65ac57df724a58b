"""Node lifecycle: marks silent nodes, taints unhealthy ones, and slows down when many are.

A node is heard of when its lease is renewed or its status is posted. Nobody goes over all nodes: each is looked at when
its silence would be too long, and when it changes.
"""

from __future__ import annotations

import asyncio

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import LEASES, NODES, PODS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.conditions import condition_of
from pybernetes.control_plane.controllers._objects.pods import by_node, is_ready
from pybernetes.control_plane.controllers.node_lifecycle import health
from pybernetes.control_plane.controllers.node_lifecycle.zones import Zones
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.lib.metrics.counts import Counters
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

LEASE_NAMESPACE = "kube-node-lease"
_EXCLUDED = "node.kubernetes.io/exclude-disruption"
_PODS_AT_ONCE = 20


class NodeLifecycleController(Controller):
    """Works on names of nodes."""

    name = "node-lifecycle-controller"
    kind = NODES
    indexes = {PODS: (by_node,)}
    selects = {LEASES: {"namespace": LEASE_NAMESPACE}}
    workers = 8

    def __init__(
        self, runtime: Runtime, *, grace: float = 50.0, startup_grace: float = 60.0,
        rates: tuple[float, float] = (0.1, 0.01), large: int = 50, threshold: float = 0.55,
    ) -> None:  # fmt: skip
        self._heard: dict[str, float] = {}  # when nodes were last heard of
        self._renewals: dict[str, str] = {}
        self._known: set[str] = set()
        self._allowed: set[str] = set()  # nodes whose eviction may begin
        self._mark_pods: set[str] = set()  # nodes whose pods have to be marked as not ready
        super().__init__(runtime)
        self._grace, self._startup_grace = grace, startup_grace
        self._zones = Zones(self.clock, rates, large, threshold, self._allow)
        self._recorder = runtime.recorder("node-controller")
        self.evictions = Counters("node_collector_evictions_total",
                                  "Number of Node evictions that happened since current instance of NodeController started.",
                                  ("zone",))  # fmt: skip
        runtime.metrics.more.append(self.evictions.write)
        self.cache(LEASES).add_handler(self._lease_changed)
        self.cache(PODS).add_handler(self._pod_changed)

    # -- what is heard of nodes --------------------------------------------------------------------------

    def _hear(self, name: str) -> None:
        self._heard[name] = self.clock.monotonic()

    def _lease_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None:
            return
        name, renewed = new["metadata"]["name"], new["spec"].get("renewTime") or ""
        if renewed > self._renewals.get(name, ""):
            self._renewals[name] = renewed
            self._hear(name)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None:
            return True
        before, after = condition_of(old, "Ready") if old is not None else None, condition_of(new, "Ready")
        if (before or {}).get("lastHeartbeatTime") != (after or {}).get("lastHeartbeatTime"):
            self._hear(new["metadata"]["name"])
        return old is None or _facts(old) != _facts(new)

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        """Enqueue a node that is not ready when a pod comes to it, which is not ready either."""
        if new is None or not is_ready(new):
            return
        node = new["spec"].get("nodeName", "")
        if node and (old is None or old["spec"].get("nodeName") != node):
            obj = self.objects.get(node)
            if obj is not None and health.readiness(obj) in ("False", "Unknown"):
                self._mark_pods.add(node)
                self.enqueue(node)

    def _allow(self, name: str) -> None:
        self._allowed.add(name)
        self.enqueue(name)

    # -- one node ----------------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> float | None:
        """Bring conditions, taints and labels of a node up to date; return when its silence would be too long."""
        node = self.objects.get(key)
        if node is None:
            self._forget(key)
            return None
        if key not in self._known:
            self._known.add(key)
            self._report(node, "RegisteredNode", f"Registered Node {key} in Controller")
        left = self._time_left(node)
        if left <= 0 and health.readiness(node) != "Unknown":
            if await self._was_renewed(key):
                return 1.0
            node = await self._mark_silent(node)
        zone, ready = health.zone_of(node), health.readiness(node) == "True"
        counted = _EXCLUDED not in (node["metadata"].get("labels") or {})
        self.evictions.add(zone, by=0)
        if self._zones.see(key, zone, ready, counted):
            self._stop_or_go_on()
        await self._correct(node, zone, ready)
        if key in self._mark_pods:
            await self._mark_pods_not_ready(key)
            self._mark_pods.discard(key)
        return max(left, 0.0) + 0.1 if left > 0 else None

    def _forget(self, key: str) -> None:
        if key in self._known:
            about: Object = {"metadata": {"name": key}}
            self._report(about, "RemovingNode", f"Removing Node {key} from Controller")
        self._known.discard(key)
        self._allowed.discard(key)
        self._mark_pods.discard(key)
        self._heard.pop(key, None)
        self._renewals.pop(key, None)
        if self._zones.forget(key):
            self._stop_or_go_on()

    def _time_left(self, node: Object) -> float:
        """Return for how many seconds a node may stay silent from now on."""
        now = self.clock.monotonic()
        name = node["metadata"]["name"]
        if condition_of(node, "Ready") is None:
            heard = now - (self.clock.now() - rfc3339.parse(node["metadata"]["creationTimestamp"]))
            if name in self._renewals:
                heard = max(heard, self._heard[name])
            return heard + self._startup_grace - now
        return self._heard.setdefault(name, now) + self._grace - now

    async def _was_renewed(self, name: str) -> bool:
        """Return whether the server has a renewal that the cache has not seen."""
        try:
            lease = await self.client.get(LEASES, name, LEASE_NAMESPACE)
        except NotFound:
            return False
        return (lease["spec"].get("renewTime") or "") > self._renewals.get(name, "")

    async def _mark_silent(self, node: Object) -> Object:
        name = node["metadata"]["name"]
        was_ready = is_ready(node)
        conditions = health.silent_conditions(node, rfc3339.seconds(self.clock.now()))
        changed = {**node, "status": {**node.get("status", {}), "conditions": conditions}}
        node = await self.client.update_status(NODES, changed)
        if was_ready:
            self._recorder.normal(_about(node), "NodeNotReady", f"Node {name} status is now: NodeNotReady")
            self._mark_pods.add(name)
        return node

    async def _correct(self, node: Object, zone: str, ready: bool) -> None:
        """Write taints and labels, if they have to change."""
        name = node["metadata"]["name"]
        if ready or self._zones.stopped:
            evict = "remove"
            self._zones.zone(zone).remove(name)
            self._allowed.discard(name)
        elif name in self._allowed:
            evict = "add"
        else:
            evict = "keep"
        wanted = health.taints(node, evict, rfc3339.seconds(self.clock.now()))
        labels = health.labels(node)
        patch: Object = {}
        if wanted != (node["spec"].get("taints") or []):
            patch["spec"] = {"taints": wanted or None}
        if labels:
            patch["metadata"] = {"labels": labels}
        if patch:
            meta = {**patch.get("metadata", {}), "resourceVersion": node["metadata"]["resourceVersion"]}
            await self.client.patch(NODES, name, {**patch, "metadata": meta})
        if evict == "add" and not _is_evicted(node["spec"].get("taints") or []) and _is_evicted(wanted):
            self.evictions.add(zone)
        self._allowed.discard(name)
        if evict == "keep" and health.readiness(node) and not _is_evicted(wanted):
            self._zones.zone(zone).add(name)

    def _stop_or_go_on(self) -> None:
        """Stop all evictions, and undo begun ones, when no zone has a ready node; resume them when one has."""
        if not self._zones.stopped:
            for name in self._heard:
                self._hear(name)
        for name in list(self.objects.keys()):
            self.enqueue(name)

    async def _mark_pods_not_ready(self, name: str) -> None:
        slots = asyncio.Semaphore(_PODS_AT_ONCE)
        now = rfc3339.seconds(self.clock.now())

        async def mark(pod: Object) -> None:
            meta = pod["metadata"]
            unready = {"type": "Ready", "status": "False", "lastTransitionTime": now}
            patch = {"metadata": {"uid": meta["uid"]}, "status": {"conditions": [unready]}}
            async with slots:
                try:
                    await self.client.patch_status(PODS, meta["name"], patch, meta["namespace"])
                except NotFound:
                    return
            self._recorder.warning(pod, "NodeNotReady", "Node is not ready")

        pods = self.cache(PODS).find(by_node, name)
        await asyncio.gather(*(mark(pod) for pod in pods if is_ready(pod)))

    def _report(self, node: Object, reason: str, text: str) -> None:
        self._recorder.normal(_about(node), reason, f"Node {node['metadata']['name']} event: {text}")


def _about(node: Object) -> Object:
    meta = node["metadata"]
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": meta["name"], "uid": meta.get("uid")}}


def _facts(node: Object) -> tuple[object, ...]:
    """Return what matters of a node; heartbeat times do not."""
    conditions = {
        condition["type"]: condition["status"] for condition in node.get("status", {}).get("conditions") or ()
    }
    spec, meta = node["spec"], node["metadata"]
    return conditions, spec.get("taints"), spec.get("unschedulable"), meta.get("labels")


def _is_evicted(taints: list[Object]) -> bool:
    return any(
        taint["effect"] == "NoExecute" and taint["key"] in (health.NOT_READY, health.UNREACHABLE)
        for taint in taints
    )


CONTROLLER = Descriptor(
    name=NodeLifecycleController.name,
    aliases=("nodelifecycle",),
    identity="node-controller",
    flags=(
        Flag("node-monitor-grace-period", Seconds(50), "how long a node may be silent before it is unknown"),
        Flag("node-startup-grace-period", Seconds(60), "how long a node may be silent that was never ready"),
        Flag(
            "node-monitor-period", Seconds(5), "accepted and not needed: nodes are looked at when it is time"
        ),
        Flag("node-eviction-rate", 0.1, "how many nodes of a zone are evicted per second"),
        Flag("secondary-node-eviction-rate", 0.01, "the same in a zone where many are not ready"),
        Flag(
            "large-cluster-size-threshold",
            50,
            "zones up to this size are not evicted when many are not ready",
        ),
        Flag("unhealthy-zone-threshold", 0.55, "the part of a zone's nodes that counts as many"),
    ),
    build=lambda runtime, options: NodeLifecycleController(
        runtime,
        grace=options.node_monitor_grace_period,
        startup_grace=options.node_startup_grace_period,
        rates=(options.node_eviction_rate, options.secondary_node_eviction_rate),
        large=options.large_cluster_size_threshold,
        threshold=options.unhealthy_zone_threshold,
    ),
)
