"""A node with one mode of kube-proxy in network namespaces, and a Service with three pods to try it with."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from pybernetes.node.proxy.backend import Backend, Settings, modes
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.local_traffic import LocalTraffic
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.service_port import ServicePort
from tests.node.proxy.namespaces import NODE_IP, POD_RANGE, PODS, SIX, World, inside, six

ADDRESS = "10.96.0.10"
A, B, FAR = Target(PODS["a"], 8080, True), Target(PODS["b"], 8080, True), Target(PODS["far"], 8080)


def service_port(**changes: Any) -> ServicePort:
    """Return a Service with three pods, two of them on this node."""
    fields: dict[str, Any] = {
        "service": "default/web", "port_name": "http", "protocol": "tcp", "family": 4, "cluster_ip": ADDRESS,
        "port": 80, "cluster": (A, B, FAR), "exists": True,
    }  # fmt: skip
    return ServicePort(**{**fields, **changes})


SIX_TARGETS = tuple(Target(six(target.ip), *target[1:]) for target in (A, B, FAR))


def service_port_six(**changes: Any) -> ServicePort:
    """Return the same Service with its address of IPv6."""
    return service_port(**{"family": 6, "cluster_ip": six(ADDRESS), "cluster": SIX_TARGETS, **changes})


class ProxyNode:
    """The node, with a backend."""

    def __init__(self, world: World, backend: Backend) -> None:
        self.world, self.backend = world, backend
        self.service_ports: dict[Any, ServicePort] = {}

    async def have(self, *service_ports: ServicePort) -> None:
        """Make these the only ServicePorts, by the changes that it takes."""
        old, new = self.service_ports, {port.key: port for port in service_ports}
        changes = [Change(old.get(key), port) for key, port in new.items() if old.get(key) != port]
        changes += [Change(port, None) for key, port in old.items() if key not in new]
        await self.backend.sync(changes)
        self.service_ports = new

    async def answers(
        self, where: str, address: str = ADDRESS, port: int = 80, times: int = 60
    ) -> Counter[str]:
        """Return who answers, how often."""
        return Counter([(await self.world.ask(where, address, port))[0] for _ in range(times)])


@contextlib.asynccontextmanager
async def proxy_node(mode: str, family: int = 4, **settings: Any) -> AsyncIterator[ProxyNode]:
    with World() as world, inside(world.names["node"]):
        own = Settings(
            Node("node", addresses=(NODE_IP, six(NODE_IP))),
            LocalTraffic(ranges=(POD_RANGE, SIX["pods"])),
            **settings,
        )
        backend = modes()[mode](own, family)
        await backend.resync([])
        for pod in PODS:
            await world.serve(pod)
        try:
            yield ProxyNode(world, backend)
        finally:
            await backend.close()
            world.stop()


def scenario(work: Callable[[ProxyNode], Coroutine[Any, Any, None]], mode: str, **settings: Any) -> None:
    async def run() -> None:
        async with proxy_node(mode, **settings) as node:
            await work(node)

    asyncio.run(run())
