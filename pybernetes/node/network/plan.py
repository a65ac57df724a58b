"""What a node's kernel must know so that pods reach the pods of other nodes. Decisions only, no I/O.

Both families of addresses are treated alike: a node may have ranges of either or of both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
BACKENDS = ("vxlan", "host-gw")
DEVICE = "pyb-vxlan"
# What a packet of an overlay carries in addition: outer Ethernet, IP, UDP and VXLAN headers.
_OVERHEAD = {4: 50, 6: 70}
# Behind every other route to the same place.
UNREACHABLE_METRIC = 4_000_000


@dataclass(frozen=True, slots=True)
class Configuration:
    """How the nodes of a cluster are joined."""

    backend: str = "vxlan"
    cluster_cidrs: tuple[str, ...] = ()  # the ranges of all pods; without them those of the nodes count
    vni: int = 1
    port: int = 8472
    mtu: int = 0  # 0: what the underlying link allows
    masquerade: bool = True
    cni_folder: Path | None = None  # where the CNI configuration is written; None leaves it to others
    cni_state: Path | None = None

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"there is no backend {self.backend!r}: use one of {', '.join(BACKENDS)}")
        for each in self.cluster_cidrs:
            ip_network(each)


@dataclass(frozen=True, slots=True)
class Peer:
    """A node as the others see it."""

    name: str
    ranges: tuple[Network, ...]
    addresses: tuple[Address, ...]

    def address(self, version: int) -> Address | None:
        """The node's first address of a family."""
        return next((each for each in self.addresses if each.version == version), None)


@dataclass(frozen=True, slots=True)
class Route:
    """A way to some pods; without a gateway and a device it says that there is none."""

    destination: Network
    gateway: Address | None = None
    overlay: bool = False  # over the overlay's device

    @property
    def unreachable(self) -> bool:
        return self.gateway is None


@dataclass(frozen=True, slots=True)
class Overlay:
    """The VXLAN device of a node, with whom it sends packets to."""

    vni: int
    port: int
    local: Address
    mac: str
    addresses: frozenset[Address] = frozenset()
    neighbours: frozenset[tuple[Address, str]] = frozenset()  # address of a peer's device, its MAC
    forwarding: frozenset[tuple[str, Address]] = frozenset()  # that MAC, address of the peer


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a node needs."""

    own: Peer
    mtu: int  # of pods and of the overlay; 0 if the kernel's default will do
    routes: frozenset[Route] = frozenset()
    overlay: Overlay | None = None
    cluster: frozenset[Network] = frozenset()  # where pods are: not to be masqueraded
    problems: tuple[str, ...] = field(default=(), compare=False)


def mac(name: str) -> str:
    """The MAC address of a node's overlay device: everybody derives the same from the node's name."""
    digest = hashlib.sha256(f"pybernetes vxlan {name}".encode()).digest()
    return ":".join(f"{byte:02x}" for byte in (digest[0] & 0xFC | 0x02, *digest[1:6]))


def peer(node: dict[str, Any]) -> Peer:
    """What a Node object says about the network; what can not be read is left out."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    listed = [each["address"] for each in status.get("addresses") or () if each.get("type") == "InternalIP"]
    return Peer(
        node["metadata"]["name"],
        tuple(found for each in ranges if (found := _read(ip_network, each)) is not None),
        tuple(found for each in listed if (found := _read(ip_address, each)) is not None),
    )


def _read(how: Any, text: str) -> Any:
    try:
        return how(text)
    except ValueError:
        return None


def plan(own: Peer, peers: Iterable[Peer], configuration: Configuration, link_mtu: int = 0) -> Plan | None:
    """What a node needs to reach the pods of its peers; None as long as it has no range or address itself."""
    if not own.ranges or not own.addresses:
        return None
    others = sorted(
        (each for each in peers if each.name != own.name and each.ranges), key=lambda each: each.name
    )
    cluster = {ip_network(each) for each in configuration.cluster_cidrs}
    for known in (own, *others):
        cluster |= {each for each in known.ranges if not any(_within(each, whole) for whole in cluster)}
    routes = {Route(each) for each in cluster}
    join = _by_overlay if configuration.backend == "vxlan" else _by_gateways
    found, overlay, problems = join(own, others, configuration)
    mtu = configuration.mtu or link_mtu
    if overlay is not None and not configuration.mtu and link_mtu:
        mtu = link_mtu - _OVERHEAD[overlay.local.version]
    return Plan(own, mtu, frozenset(routes | found), overlay, frozenset(cluster), tuple(problems))


def _within(small: Network, large: Network) -> bool:
    return small.version == large.version and small.subnet_of(large)  # type: ignore[arg-type]


_Joined = tuple[set[Route], Overlay | None, list[str]]


def _by_overlay(own: Peer, others: list[Peer], configuration: Configuration) -> _Joined:
    """Packets to pods go to the peer's overlay device, whose address is the first of the peer's range."""
    local = own.addresses[0]
    routes, neighbours, forwarding, problems = set(), set(), set(), []
    for other in others:
        remote = other.address(local.version)
        if remote is None:
            problems.append(f"the node {other.name} has no address of the family of {local}")
            continue
        device = mac(other.name)
        forwarding.add((device, remote))
        for each in other.ranges:
            routes.add(Route(each, each.network_address, overlay=True))
            neighbours.add((each.network_address, device))
    overlay = Overlay(
        configuration.vni, configuration.port, local, mac(own.name),
        frozenset(each.network_address for each in own.ranges), frozenset(neighbours), frozenset(forwarding),
    )  # fmt: skip
    return routes, overlay, problems


def _by_gateways(own: Peer, others: list[Peer], configuration: Configuration) -> _Joined:
    """Packets to pods go to the peer itself, which must be on the same link."""
    routes, problems = set(), []
    for other in others:
        for each in other.ranges:
            gateway = other.address(each.version)
            if gateway is None:
                problems.append(f"the node {other.name} has no address of the family of {each}")
            else:
                routes.add(Route(each, gateway))
    return routes, None, problems
