"""The mode userspace: the kernel hands traffic to this process, which passes it on round robin."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Sequence

from pybernetes.lib.clock import Clock
from pybernetes.node.proxy.backend import Settings, SyncError
from pybernetes.node.proxy.backends import iptables
from pybernetes.node.proxy.balance import Balancer
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.forward import TcpForwarder, UdpForwarder
from pybernetes.node.proxy.service_port import ServicePort, Target

Key = tuple[str, str, str, int]


class Userspace:
    """The mode for one family. A portal has a port of this process for each of its traffic policies in use."""

    def __init__(self, settings: Settings, family: int, clock: Clock | None = None) -> None:
        self.settings, self.family = settings, family
        self._clock = clock or Clock()
        self._kernel = iptables.Iptables(settings, family, self._redirect)
        self._ports: dict[tuple[Key, bool], tuple[Balancer, TcpForwarder | UdpForwarder]] = {}

    def _redirect(self, portal: ServicePort, targets: tuple[Target, ...], local: bool) -> list[str]:
        port = self._ports[portal.key, local][1].port
        return [f"-p {portal.protocol} -m {portal.protocol} -j REDIRECT --to-ports {port}"]

    def figures(self) -> dict[tuple[str, ...], float]:
        """The rules that lead here."""
        return self._kernel.figures()

    async def resync(self, portals: Iterable[ServicePort]) -> None:
        """Listens for every portal, then has the kernel redirect to that."""
        wanted = list(portals)
        for portal in wanted:
            await self._listen(portal)
        await self._kernel.resync(wanted)
        await self._close(keep={(portal.key, local) for portal in wanted for local, _ in _policies(portal)})

    async def sync(self, changes: Sequence[Change]) -> None:
        """Has portals lead to other targets; rules change only for new ones and for those that are gone."""
        touched: set[Key] = set()
        keep: set[tuple[Key, bool]] = set()
        for old, new in changes:
            touched.add((new or old).key)  # type: ignore[union-attr]
            if new is not None:
                await self._listen(new)
                keep.update((new.key, local) for local, _ in _policies(new))
        await self._kernel.sync(changes)
        await self._close(keep, touched)

    async def _listen(self, portal: ServicePort) -> None:
        for local, targets in _policies(portal):
            held = self._ports.get((portal.key, local))
            if held is None:
                balancer = Balancer(self._clock)
                made = (TcpForwarder if portal.protocol == "tcp" else UdpForwarder)(balancer, self.family)
                try:
                    await made.open()
                except OSError as error:
                    raise SyncError(f"{portal.name}: no port to listen on: {error}") from None
                held = self._ports[portal.key, local] = (balancer, made)
            held[0].set(targets, portal.affinity_seconds)
            held[1].retarget()

    async def _close(self, keep: set[tuple[Key, bool]], among: set[Key] | None = None) -> None:
        for key in [key for key in self._ports if key not in keep and (among is None or key[0] in among)]:
            await self._ports.pop(key)[1].close()

    async def close(self) -> None:
        """Listens no more."""
        await self._close(set())


def _policies(portal: ServicePort) -> list[tuple[bool, tuple[Target, ...]]]:
    """The traffic policies in use: whether it is Local, and its targets."""
    return [(local, targets) for local, targets in ((False, portal.cluster), (True, portal.local)) if targets]


class Mode:
    """The mode as ``--proxy-mode=userspace`` chooses it."""

    def __call__(self, settings: Settings, family: int) -> Userspace:
        # Each port of a Service and each connection has a descriptor; what systems give at first is for less.
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return Userspace(settings, family)

    async def cleanup(self) -> None:
        """Its rules are those of the mode iptables."""


MODE = Mode()
