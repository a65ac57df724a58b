"""A cloud in memory: for tests of the loops, and for trying them out. Faults are set from outside.

Its configuration is YAML: ``instances`` has a mapping of names of nodes to what the cloud knows of them
(``addresses``, ``type``, ``zone``, ``region``, ``labels``, ``off``). Load balancers get addresses of ``pool``.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.provider import (
    INTERNAL_IP,
    CloudError,
    Ingress,
    InstanceMetadata,
    NodeAddress,
    Route,
)


@dataclass
class FakeInstance:
    """An instance of the fake cloud."""

    metadata: InstanceMetadata
    off: bool = False


@dataclass
class FakeBalancer:
    """A load balancer of the fake cloud."""

    address: str
    nodes: list[str]


@dataclass
class FakeCloud:
    """The whole cloud. ``faults`` has the errors that operations fail with; an event makes them wait for it."""

    name: str = "fake"
    machines: dict[str, FakeInstance] = field(default_factory=dict)
    balancers: dict[str, FakeBalancer] = field(default_factory=dict)
    pool: list[str] = field(default_factory=list)
    ways: list[Route] = field(default_factory=list)
    faults: dict[str, Exception | asyncio.Event] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)  # operations, and what they were about

    @property
    def instances(self) -> FakeInstances:
        return FakeInstances(self)

    @property
    def load_balancers(self) -> FakeLoadBalancers:
        return FakeLoadBalancers(self)

    @property
    def routes(self) -> FakeRoutes:
        return FakeRoutes(self)

    async def run(self) -> None:
        """Return at once: nothing happens by itself in this cloud."""

    def count(self, operation: str) -> int:
        """Return how often something was asked for."""
        return sum(asked == operation for asked, _ in self.calls)

    async def enter(self, operation: str, about: str) -> None:
        """Note a call, and fail or wait as the faults say."""
        self.calls.append((operation, about))
        fault = self.faults.get(operation)
        if isinstance(fault, asyncio.Event):
            await fault.wait()
        elif fault is not None:
            raise fault


class FakeInstances:
    """The machines of the fake cloud, by the names of their nodes."""

    def __init__(self, cloud: FakeCloud) -> None:
        self._cloud = cloud

    def _find(self, node: Object) -> FakeInstance | None:
        return self._cloud.machines.get(node["metadata"]["name"])

    async def exists(self, node: Object) -> bool:
        """Return whether there is such a machine."""
        await self._cloud.enter("exists", node["metadata"]["name"])
        return self._find(node) is not None

    async def is_shut_down(self, node: Object) -> bool:
        """Return whether the machine is off."""
        await self._cloud.enter("is_shut_down", node["metadata"]["name"])
        machine = self._find(node)
        return machine is not None and machine.off

    async def metadata(self, node: Object) -> InstanceMetadata | None:
        """Return what is known of the machine; CloudError if there is none (yet)."""
        await self._cloud.enter("metadata", node["metadata"]["name"])
        machine = self._find(node)
        if machine is None:
            raise CloudError("instance not found")
        return machine.metadata


class FakeLoadBalancers:
    """The load balancers of the fake cloud, by the uids of their services."""

    def __init__(self, cloud: FakeCloud) -> None:
        self._cloud = cloud

    async def get(self, cluster: str, service: Object) -> Sequence[Ingress] | None:
        """Return where a load balancer is reached."""
        await self._cloud.enter("get", service["metadata"]["name"])
        balancer = self._cloud.balancers.get(service["metadata"]["uid"])
        return None if balancer is None else [Ingress(balancer.address)]

    async def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Sequence[Ingress]:
        """Make or change a load balancer; without an address left there is none in the answer."""
        await self._cloud.enter("ensure", service["metadata"]["name"])
        names = [node["metadata"]["name"] for node in nodes]
        balancer = self._cloud.balancers.get(service["metadata"]["uid"])
        if balancer is None:
            if not self._cloud.pool:
                return []
            balancer = self._cloud.balancers[service["metadata"]["uid"]] = FakeBalancer(
                self._cloud.pool.pop(0), names
            )
        balancer.nodes = names
        return [Ingress(balancer.address)]

    async def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Change the nodes behind a load balancer."""
        await self._cloud.enter("update", service["metadata"]["name"])
        balancer = self._cloud.balancers.get(service["metadata"]["uid"])
        if balancer is None:
            raise CloudError("there is no such load balancer")
        balancer.nodes = [node["metadata"]["name"] for node in nodes]

    async def delete(self, cluster: str, service: Object) -> None:
        """Remove a load balancer; its address is free again."""
        await self._cloud.enter("delete", service["metadata"]["name"])
        balancer = self._cloud.balancers.pop(service["metadata"]["uid"], None)
        if balancer is not None:
            self._cloud.pool.append(balancer.address)


class FakeRoutes:
    """The routes of the fake cloud."""

    def __init__(self, cloud: FakeCloud) -> None:
        self._cloud = cloud

    async def list(self, cluster: str) -> Sequence[Route]:
        """Return all routes."""
        await self._cloud.enter("list_routes", cluster)
        return list(self._cloud.ways)

    async def create(self, cluster: str, name_hint: str, route: Route) -> None:
        """Make a route."""
        await self._cloud.enter("create_route", route.target_node)
        self._cloud.ways.append(Route(route.destination, route.target_node, name_hint, route.addresses))

    async def delete(self, cluster: str, route: Route) -> None:
        """Remove a route."""
        await self._cloud.enter("delete_route", route.target_node)
        self._cloud.ways.remove(route)


def from_config(text: str) -> FakeCloud:
    """Make a cloud of the text of its configuration."""
    import yaml

    config = yaml.safe_load(text) or {}
    unknown = set(config) - {"instances", "pool"}
    if unknown:
        raise ValueError(f"unknown field {sorted(unknown)[0]!r}; the fields are instances and pool")
    pool = [str(address) for address in ipaddress.ip_network(config.get("pool", "192.0.2.0/28")).hosts()]
    machines = {name: instance(name, **known) for name, known in (config.get("instances") or {}).items()}
    return FakeCloud(machines=machines, pool=pool)


def instance(name: str, **known: Any) -> FakeInstance:
    """Return a machine of which this is known."""
    addresses = tuple(NodeAddress(INTERNAL_IP, address) for address in known.pop("addresses", ()))
    off = known.pop("off", False)
    kind = known.pop("type", "")
    return FakeInstance(InstanceMetadata(f"fake://{name}", kind, addresses, **known), off)


PROVIDER = from_config
