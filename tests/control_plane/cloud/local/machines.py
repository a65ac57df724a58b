"""A machine in memory, for the local cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pybernetes.control_plane.cloud.local.machine import Balancer, LocalInstance, MachineRoute


class FakeMachine:
    """Remembers what it is told; ``broken`` makes every call fail."""

    cluster = "c"
    pool: tuple[str, ...] = ("172.30.9.200", "172.30.9.201")

    def __init__(self, **instances: LocalInstance) -> None:
        self.instances, self.balanced = instances, dict[str, Balancer]()
        self.routed: set[MachineRoute] = set()
        self.broken = False

    def _check(self) -> None:
        if self.broken:
            raise OSError("the helper is away")

    async def instance(self, name: str) -> LocalInstance | None:
        self._check()
        return self.instances.get(name)

    async def balancers(self) -> Mapping[str, Balancer]:
        self._check()
        return self.balanced

    async def balance(self, balancer: Balancer) -> None:
        self._check()
        self.balanced = {**self.balanced, balancer.address: balancer}

    async def unbalance(self, address: str) -> None:
        self._check()
        self.balanced = {key: entry for key, entry in self.balanced.items() if key != address}

    async def routes(self) -> Sequence[MachineRoute]:
        self._check()
        return sorted(self.routed, key=lambda route: route.destination)

    async def route(self, destination: str, node: str) -> None:
        self._check()
        self.routed = {route for route in self.routed if route.destination != destination}
        self.routed.add(MachineRoute(destination, node, self.instances[node].addresses[0], True))

    async def unroute(self, destination: str, gateway: str) -> None:
        self._check()
        self.routed = {
            route for route in self.routed if (route.destination, route.gateway) != (destination, gateway)
        }
