"""The mode userspace: the kernel redirects traffic to this process, which forwards it round robin."""

from __future__ import annotations

import logging
import resource
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pybernetes.lib.clock import Clock
from pybernetes.node.proxy.backend import Settings, SyncError
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.iptables import iptables
from pybernetes.node.proxy.service_port import ServicePort
from pybernetes.node.proxy.userspace.round_robin import RoundRobin
from pybernetes.node.proxy.userspace.tcp_forwarder import TcpForwarder
from pybernetes.node.proxy.userspace.udp_forwarder import UdpForwarder

log = logging.getLogger(__name__)
Key = tuple[str, str, str, int]
# A ServicePort, and whether the traffic follows the policy Local.
PolicyKey = tuple[Key, bool]


class Userspace:
    """The mode for one address family: a port of this process for each ServicePort and traffic policy in use."""

    def __init__(self, settings: Settings, family: int, clock: Clock | None = None) -> None:
        self.settings, self.family = settings, family
        self._clock = clock or Clock()
        self._kernel = iptables.Iptables(settings, family, self._redirect)
        self._forwarders: dict[PolicyKey, tuple[RoundRobin, TcpForwarder | UdpForwarder]] = {}

    def _redirect(self, port: ServicePort, targets: tuple[Target, ...], local: bool) -> list[str]:
        number = self._forwarders[port.key, local][1].port
        return [f"-p {port.protocol} -m {port.protocol} -j REDIRECT --to-ports {number}"]

    def samples(self) -> dict[tuple[str, ...], float]:
        """Return the numbers of the rules that redirect to this process."""
        return self._kernel.samples()

    async def resync(self, service_ports: Iterable[ServicePort]) -> None:
        """Listen for every ServicePort, then have the kernel redirect to this process."""
        ports = [_forwarded(port) for port in service_ports]
        for port in ports:
            await self._listen(port)
        await self._kernel.resync(ports)
        await self._close(keep={(port.key, local) for port in ports for local, _ in _policies(port)})

    async def sync(self, changes: Sequence[Change]) -> None:
        """Forward to other targets; rules change only for new ServicePorts and for those that are gone."""
        changed: set[Key] = set()
        keep: set[PolicyKey] = set()
        changes = [Change(change.old, change.new and _forwarded(change.new)) for change in changes]
        for change in changes:
            changed.add(change.key)
            if change.new is not None:
                await self._listen(change.new)
                keep.update((change.key, local) for local, _ in _policies(change.new))
        await self._kernel.sync(changes)
        await self._close(keep, changed)

    async def _listen(self, port: ServicePort) -> None:
        for local, targets in _policies(port):
            current = self._forwarders.get((port.key, local))
            if current is None:
                balancer = RoundRobin(self._clock)
                make = TcpForwarder if port.protocol == "tcp" else UdpForwarder
                forwarder = make(balancer, self.family)
                try:
                    await forwarder.open()
                except OSError as error:
                    raise SyncError(f"{port.name}: no port to listen on: {error}") from None
                current = self._forwarders[port.key, local] = (balancer, forwarder)
            balancer, forwarder = current
            balancer.set(targets, port.affinity_seconds)
            forwarder.retarget()

    async def _close(self, keep: set[PolicyKey], among: set[Key] | None = None) -> None:
        gone = [key for key in self._forwarders if key not in keep and (among is None or key[0] in among)]
        for key in gone:
            await self._forwarders.pop(key)[1].close()

    async def close(self) -> None:
        """Stop listening."""
        await self._close(set())


def _forwarded(port: ServicePort) -> ServicePort:
    """Return the port, without targets if there are no sockets for its protocol: such traffic is refused."""
    if port.protocol != "sctp":
        return port
    log.warning("%s is refused: the mode userspace does not forward SCTP", port.name)
    return replace(port, cluster=(), local=(), exists=False)


def _policies(port: ServicePort) -> list[tuple[bool, tuple[Target, ...]]]:
    """Return the traffic policies in use: whether the policy is Local, and its targets."""
    return [(local, targets) for local, targets in ((False, port.cluster), (True, port.local)) if targets]


class Mode:
    """The mode as ``--proxy-mode=userspace`` chooses it."""

    section, rules = "iptables", "iptables"
    metrics, failures = iptables.MODE.metrics, iptables.MODE.failures

    def __call__(self, settings: Settings, family: int) -> Userspace:
        # Each port of a Service and each connection takes a descriptor, and the usual limit is low.
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return Userspace(settings, family)

    def missing(self) -> str:
        """Return nothing: every kernel that runs pods has what it takes."""
        return ""

    async def cleanup(self) -> None:
        """Do nothing: its rules are those of the mode iptables."""


MODE = Mode()
