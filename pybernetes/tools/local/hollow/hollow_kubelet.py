"""The agent of hollow nodes: registers them, renews their leases, and moves the pods on them from stage to stage."""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, Conflict, NotFound, StatusError
from pybernetes.client.refs import LEASES, NODES, PODS
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.runtime import Controller, Runtime
from pybernetes.tools.local.hollow import stage_inputs, stages
from pybernetes.tools.local.hollow.render import Object, render

log = logging.getLogger(__name__)
_LEASE_SECONDS = 40
_RENEW_SECONDS = 10.0
_HEARTBEAT_SECONDS = 300.0
_LEASES = "kube-node-lease"
# Addresses for pods on nodes that nobody gave a range.
_RANGE = "10.244.0.0/14"


def with_ports(pod: Object) -> tuple[str, ...]:
    """Index: the node of a pod that runs and has ports of its node."""
    ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return (pod["spec"].get("nodeName", ""),) if not ended and stage_inputs.host_ports(pod) else ()


def by_address(pod: Object) -> tuple[str, ...]:
    """Index: the address of a pod."""
    address = pod.get("status", {}).get("podIP")
    return (address,) if address else ()


@lru_cache(maxsize=4096)
def _network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text)


class Pods(Controller):
    """Moves pods on."""

    name = "hollow-pods"
    kind = PODS
    selects = {PODS: {"fields": "spec.nodeName!="}}
    indexes = {PODS: (with_ports, by_address)}
    workers = 16

    def __init__(
        self, runtime: Runtime, nodes: Sequence[str], plan: list[stages.Stage], start_seconds: float = 0.0
    ) -> None:
        self._nodes = {name: address(number) for number, name in enumerate(nodes)}
        self._stages, self._start_seconds = plan, start_seconds
        self._since: dict[str, tuple[str, str, float]] = {}  # a pod's uid, the stage it waits for, since when
        self._given: dict[str, int] = {}  # how many addresses of each range are given away
        super().__init__(runtime)
        self.cache(NODES)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Only pods on our nodes."""
        return (new or old or {})["spec"].get("nodeName") in self._nodes

    async def reconcile(self, key: str) -> float | None:
        """Take the stage that is due."""
        pod = self.objects.get(key)
        if pod is None:
            self._since.pop(key, None)
            return None
        known = self._facts(pod)
        stage = stages.find(self._stages, pod, known)
        if stage is None:
            self._since.pop(key, None)
            return None
        left = self._left(key, pod, stage, known)
        if left > 0:
            return left
        self._since.pop(key, None)
        meta = pod["metadata"]
        try:
            if stage.delete:
                await self.client.delete(PODS, meta["name"], meta["namespace"], uid=meta["uid"], grace=0)
            else:
                await self.client.update_status(PODS, {**pod, "status": stages.status(stage, pod, known)})
        except (NotFound, Conflict) as error:
            log.debug("%s: %s", key, error)  # it has changed, of which we will hear
        return None

    def _left(self, key: str, pod: Object, stage: stages.Stage, known: dict[str, Any]) -> float:
        """For how long a stage still waits since it came up."""
        wait = stages.delay(stage, known)
        if wait <= 0:
            return 0.0
        if not isinstance(stage.after, str) or stage.after == "startSeconds":
            uid, now = pod["metadata"]["uid"], self.clock.monotonic()
            before = self._since.get(key)
            if before is None or before[:2] != (uid, stage.name):
                before = self._since[key] = (uid, stage.name, now)
            return before[2] + wait - now
        return wait  # the fact itself counts down

    def _facts(self, pod: Object) -> dict[str, Any]:
        node = pod["spec"]["nodeName"]
        return stage_inputs.of(
            pod, now=self.clock.now(), host=self._nodes[node], address=lambda: self._address(node),
            start_seconds=self._start_seconds, taken=self._taken(pod, node) if stage_inputs.host_ports(pod) else (),
        )  # fmt: skip

    def _taken(self, pod: Object, node: str) -> set[tuple[str, int]]:
        """Return the ports of a node that other pods have."""
        others = [each for each in self.objects.find(with_ports, node) if each is not pod]
        return {
            port
            for each in others
            if "startTime" in each.get("status", {})
            for port in stage_inputs.host_ports(each)
        }

    def _address(self, node: str) -> str:
        """Return an address of the node's range that no pod there has; one of our own if it was given none."""
        spec = (self.cache(NODES).get(node) or {}).get("spec", {})
        network = _network(spec.get("podCIDR", _RANGE))
        room = network.num_addresses - 2
        for _ in range(room):
            number = self._given[str(network)] = self._given.get(str(network), 0) % room + 1
            found = str(network[number])
            if not self.objects.count(by_address, found):
                return found
        return str(network[1])  # more pods than addresses: they are hollow


def address(number: int) -> str:
    """Return the address that the node of a number claims to have."""
    return f"172.31.{number // 250}.{number % 250 + 1}"


class Nodes:
    """Registers nodes and shows that they are alive."""

    def __init__(
        self, client: Client, names: Sequence[str], version: str, clock: Clock | None = None
    ) -> None:
        self._client, self._names, self._version = client, list(names), version
        self._clock = clock or Clock()
        self._since = rfc3339.seconds(self._clock.now())
        self._leases: dict[str, Object] = {}

    def _node(self, number: int, name: str) -> Object:
        known = {
            "name": name, "address": address(number), "now": rfc3339.seconds(self._clock.now()), "since": self._since,
            "version": self._version, "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
        }  # fmt: skip
        return render(stages.node_template(), {}, known)

    async def register(self) -> None:
        """Make the nodes, or takes over those that are there."""
        for start in range(0, len(self._names), 32):
            part = list(enumerate(self._names))[start : start + 32]
            await asyncio.gather(*(self._register(number, name) for number, name in part))

    async def _register(self, number: int, name: str) -> None:
        wanted = self._node(number, name)
        try:
            await self._client.create(NODES, wanted)
        except AlreadyExists:
            pass
        await self._report(number, name)
        await self._renew(name)

    async def _report(self, number: int, name: str) -> None:
        """Write the status of a node."""
        status = self._node(number, name)["status"]
        await self._client.patch(NODES, name, {"status": status}, subresource="status", type="strategic")

    async def _renew(self, name: str) -> None:
        """Renew the lease of a node."""
        now = rfc3339.micro(self._clock.now())
        spec = {"holderIdentity": name, "leaseDurationSeconds": _LEASE_SECONDS, "renewTime": now}
        known = self._leases.get(name)
        try:
            if known is None:
                lease = {"metadata": {"name": name, "namespace": _LEASES}, "spec": spec}
                self._leases[name] = await self._client.create(LEASES, lease)
            else:
                self._leases[name] = await self._client.update(LEASES, {**known, "spec": spec})
        except AlreadyExists:
            self._leases[name] = await self._client.get(LEASES, name, _LEASES)
        except (Conflict, NotFound):
            self._leases.pop(name, None)

    async def run(self) -> None:
        """Renew leases and reports until it is cancelled, one node after the other so that the load is even."""
        reported = dict.fromkeys(self._names, self._clock.monotonic())
        while True:
            pause = _RENEW_SECONDS / max(1, len(self._names))
            for number, name in enumerate(self._names):
                await self._clock.sleep(pause)
                try:
                    await self._renew(name)
                    if self._clock.monotonic() - reported[name] > _HEARTBEAT_SECONDS * (
                        0.8 + random.random() / 5
                    ):
                        reported[name] = self._clock.monotonic()
                        await self._report(number, name)
                except (StatusError, OSError) as error:
                    log.warning("the node %s cannot show that it is alive: %s", name, error)


async def run(
    client: Client,
    names: Sequence[str],
    *,
    version: str,
    clock: Clock | None = None,
    plan: list[stages.Stage] | None = None,
    start_seconds: float = 0.0,
    ready: asyncio.Event | None = None,
) -> None:
    """Pretend to be nodes until it is cancelled; ``ready`` is set when they are registered."""
    runtime = Runtime(client, clock=clock)
    pods = Pods(runtime, names, plan if plan is not None else stages.builtin(), start_seconds)
    nodes = Nodes(client, names, version, clock)
    await nodes.register()
    runtime.informers.start()
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pods.run())
            group.create_task(nodes.run())
            if ready is not None:
                ready.set()
    finally:
        await runtime.informers.stop()
