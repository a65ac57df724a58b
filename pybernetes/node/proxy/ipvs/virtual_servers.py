"""What one ServicePort asks of the kernel in the mode ipvs: virtual servers, addresses and entries of sets. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.ipvs import sets
from pybernetes.node.proxy.ipvs.sets import Entry
from pybernetes.node.proxy.service_port import ServicePort

LINK = "kube-ipvs0"  # has the addresses of Services
PERSISTENT = 0x1  # a client keeps its real server for the timeout
HASH_PORT = (
    0x10  # the scheduler looks at the client's port, too, which spreads what comes through one address
)
DEFAULT_SCHEDULER = "rr"


class Address(NamedTuple):
    """Where a virtual server is reached."""

    protocol: str
    ip: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.ip}]" if ":" in self.ip else self.ip
        return f"{self.protocol} {host}:{self.port}"


class RealServer(NamedTuple):
    """Where a virtual server sends to."""

    ip: str
    port: int

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"


@dataclass(frozen=True, slots=True)
class VirtualServer:
    """How a virtual server picks a real server."""

    scheduler: str = DEFAULT_SCHEDULER
    flags: int = 0
    timeout: int = 0  # of a client's memory, in seconds


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one ServicePort asks for. ``bound`` are the addresses that this node has to take for its own."""

    servers: Mapping[Address, tuple[VirtualServer, tuple[RealServer, ...]]] = field(default_factory=dict)
    bound: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


NOTHING = Wanted()


def wanted(
    port: ServicePort, scheduler: str, node_ports_on: Sequence[str], own: frozenset[str], node_address: str
) -> Wanted:
    """Return what a ServicePort asks for, given where node ports are served, the addresses that other links of
    this node have, and the node's own one."""
    server = virtual_server(port, scheduler)
    servers: dict[Address, tuple[VirtualServer, tuple[RealServer, ...]]] = {}
    bound = [port.cluster_ip]
    entries = [Entry(sets.CLUSTER_IP, sets.at(port.cluster_ip, port.protocol, port.port))]
    servers[Address(port.protocol, port.cluster_ip, port.port)] = (server, _real(port.internal_targets))
    # Without a pod here traffic of pods may still go elsewhere; what comes from outside is dropped before.
    outside = (server, _real(port.external_targets or port.cluster))
    ways = [(address, port.port) for address in (*port.external_ips, *port.load_balancer_ips)]
    bound += [address for address, _ in ways if address not in own]
    ways += [(address, port.node_port) for address in node_ports_on if port.node_port]
    for address, number in ways:
        servers[Address(port.protocol, address, number)] = outside
        place = sets.at(address, port.protocol, number)
        entries.append(Entry(sets.EXTERNAL_IP_LOCAL if port.external_local else sets.EXTERNAL_IP, place))
        if port.external_local and port.exists and not port.local:
            entries.append(Entry(sets.NO_LOCAL, place))
    entries += _firewall(port, node_address)
    entries += [
        Entry(sets.LOOP_BACK, f"{sets.at(target.ip, port.protocol, target.port)},{target.ip}")
        for target in port.reachable
        if target.local
    ]
    if port.health_check_port:
        entries.append(Entry(sets.HEALTH_CHECK, str(port.health_check_port)))
    addresses = tuple(dict.fromkeys(bound))
    entries += [Entry(sets.BOUND, address) for address in addresses]
    return Wanted(servers, addresses, tuple(dict.fromkeys(entries)))


def virtual_server(port: ServicePort, scheduler: str) -> VirtualServer:
    """Return how the virtual servers of a ServicePort pick."""
    flags = HASH_PORT if scheduler == "mh" else 0
    return VirtualServer(
        scheduler, flags | PERSISTENT if port.affinity_seconds else flags, port.affinity_seconds
    )


def _real(targets: tuple[Target, ...]) -> tuple[RealServer, ...]:
    return tuple(dict.fromkeys(RealServer(target.ip, target.port) for target in targets))


def _firewall(port: ServicePort, node_address: str) -> list[Entry]:
    """Return who may come in by the load balancer's addresses, if not everybody may."""
    entries = []
    for address in port.load_balancer_ips if port.source_ranges else ():
        place = sets.at(address, port.protocol, port.port)
        entries.append(Entry(sets.FIREWALL, place))
        entries += [Entry(sets.SOURCES, f"{place},{sets.network(source)}") for source in port.source_ranges]
        own = ipaddress.ip_address(node_address) if node_address else None
        if own is not None and any(own in ipaddress.ip_network(source) for source in port.source_ranges):
            # What the node itself sends there has this address as its source, since the node has it.
            entries.append(Entry(sets.SOURCES, f"{place},{address}"))
    return entries
