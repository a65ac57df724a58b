"""The pods of hollow nodes: moved from stage to stage as a kubelet would."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network

from pybernetes.api.core.pod.container_path import container_path
from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, NotFound
from pybernetes.client.refs import NODES, PODS
from pybernetes.lib.memory.forgetting import forgotten
from pybernetes.runtime import Controller, Runtime
from pybernetes.runtime.cache import by_controller
from pybernetes.runtime.events import Recorder
from pybernetes.tools.local.hollow import stage_inputs, stages
from pybernetes.tools.local.hollow.nodes import node_address
from pybernetes.tools.local.hollow.render import Inputs

log = logging.getLogger(__name__)
# Addresses for pods on nodes that nobody gave a range.
_RANGE = "10.244.0.0/14"


def with_host_ports(pod: Object) -> tuple[str, ...]:
    """Index a running pod with host ports by its node."""
    ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return (pod["spec"].get("nodeName", ""),) if not ended and stage_inputs.host_ports(pod) else ()


def by_address(pod: Object) -> tuple[str, ...]:
    """Index a pod by its address."""
    address = pod.get("status", {}).get("podIP")
    return (address,) if address else ()


def by_node(pod: Object) -> tuple[str, ...]:
    """Index a pod by its node."""
    return (pod["spec"].get("nodeName", ""),)


def by_running_controller(pod: Object) -> tuple[str, ...]:
    """Index a running pod by what made it."""
    return by_controller(pod) if pod.get("status", {}).get("phase") == "Running" else ()


@forgotten
@lru_cache(maxsize=4096)
def _network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text)


class HollowPods(Controller):
    """Moves pods on hollow nodes from stage to stage."""

    name = "hollow-pods"
    kind = PODS
    selects = {PODS: {"fields": "spec.nodeName!="}}
    indexes = {PODS: (with_host_ports, by_address, by_node, by_running_controller)}
    workers = 16

    def __init__(
        self, runtime: Runtime, nodes: Mapping[str, int], plan: list[stages.Stage], start_seconds: float = 0.0
    ) -> None:
        self._nodes = nodes  # names, and the numbers that addresses follow from; others change it
        self._stages, self._start_seconds = plan, start_seconds
        self._since: dict[str, tuple[str, str, float]] = {}  # a pod's uid, the stage it waits for, since when
        self._assigned: dict[str, int] = {}  # how many addresses of each range are assigned
        self._recorders: dict[str, Recorder] = {}  # of the nodes that had something to report
        super().__init__(runtime)
        self.cache(NODES)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Return whether a pod is on one of our nodes."""
        return (new or old or {})["spec"].get("nodeName") in self._nodes

    async def reconcile(self, key: str) -> float | None:
        """Take the next stage of a pod when it is due."""
        pod = self.objects.get(key)
        if pod is None:
            self._since.pop(key, None)
            return None
        inputs = self._inputs(pod)
        stage = stages.find(self._stages, pod, inputs)
        if stage is None:
            self._since.pop(key, None)
            return None
        left = self._left(key, pod, stage, inputs)
        if left > 0:
            return left
        self._since.pop(key, None)
        meta = pod["metadata"]
        try:
            if stage.delete:
                await self.client.delete(PODS, meta["name"], meta["namespace"], uid=meta["uid"], grace=0)
            else:
                await self.client.update_status(PODS, {**pod, "status": stages.status(stage, pod, inputs)})
            self._report(pod, stages.events(stage, pod, inputs))
        except (NotFound, Conflict) as error:
            log.debug("%s: %s", key, error)  # it has changed: an event will follow
        return None

    def _report(self, pod: Object, events: list[Object]) -> None:
        """Report what a kubelet would, in the name of the pod's node."""
        node = pod["spec"]["nodeName"]
        if events and node not in self._recorders:
            self._recorders[node] = Recorder(
                self.client, "kubelet", host=node, clock=self.clock, sender=self.runtime.events, is_gone=self._is_gone
            )  # fmt: skip
        about = {"kind": "Pod", "apiVersion": "v1", **pod}
        for event in events:
            path = container_path(pod, event.get("container", ""))
            self._recorders[node].event(
                about, event["type"], event["reason"], event["message"], field_path=path
            )

    def _is_gone(self, about: Object) -> bool:
        """Return whether a pod that was reported on is there no more."""
        return f"{about['namespace']}/{about['name']}" not in self.objects

    def _left(self, key: str, pod: Object, stage: stages.Stage, inputs: Inputs) -> float:
        """Return how many seconds are left until a stage is due."""
        wait = stages.delay(stage, inputs)
        if wait <= 0:
            return 0.0
        if not isinstance(stage.after, str) or stage.after == "startSeconds":
            uid, now = pod["metadata"]["uid"], self.clock.monotonic()
            before = self._since.get(key)
            if before is None or before[:2] != (uid, stage.name):
                before = self._since[key] = (uid, stage.name, now)
            return before[2] + wait - now
        return wait  # the input itself counts down

    def _inputs(self, pod: Object) -> Inputs:
        node = pod["spec"]["nodeName"]
        return stage_inputs.of(
            pod, now=self.clock.now(), host=node_address(self._nodes.get(node, 0)), address=lambda: self._address(node),
            start_seconds=self._start_seconds, taken=self._taken(pod, node) if stage_inputs.host_ports(pod) else (),
        )  # fmt: skip

    def on_node(self, node: str) -> list[Object]:
        """Return the pods of a node."""
        return self.objects.find(by_node, node)

    def siblings(self, pod: Object) -> int:
        """Return how many running pods have the same owner."""
        owners = by_controller(pod)
        return self.objects.count(by_running_controller, owners[0]) if owners else 1

    def _taken(self, pod: Object, node: str) -> set[tuple[str, int]]:
        """Return the ports of a node that other pods have."""
        others = [other for other in self.objects.find(with_host_ports, node) if other is not pod]
        return {
            port
            for other in others
            if "startTime" in other.get("status", {})
            for port in stage_inputs.host_ports(other)
        }

    def _address(self, node: str) -> str:
        """Return an address of the node's range that no pod has; of a range of our own if the node has none."""
        spec = (self.cache(NODES).get(node) or {}).get("spec", {})
        network = _network(spec.get("podCIDR", _RANGE))
        room = network.num_addresses - 2
        for _ in range(room):
            number = self._assigned[str(network)] = self._assigned.get(str(network), 0) % room + 1
            candidate = str(network[number])
            if not self.objects.count(by_address, candidate):
                return candidate
        return str(network[1])  # more pods than addresses: they are hollow
