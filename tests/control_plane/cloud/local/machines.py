"""A machine in memory, for the local cloud."""

from __future__ import annotations

from collections.abc import Mapping

from pybernetes.control_plane.cloud.local.machine import Balancer, LocalInstance


class FakeMachine:
    """Remembers what it is told; ``broken`` makes every call fail."""

    cluster = "c"
    pool: tuple[str, ...] = ("172.30.9.200", "172.30.9.201")

    def __init__(self, **instances: LocalInstance) -> None:
        self.instances, self.balanced = instances, dict[str, Balancer]()
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
