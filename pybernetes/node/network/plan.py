"""What a node's kernel must know so that pods reach the pods of other nodes. Pure.

Both families of addresses are treated alike: a node may have ranges of either or of both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import TypeVar

from pybernetes.api.resource import Object

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Parsed = TypeVar("Parsed")
BACKENDS = ("vxlan", "host-gw", "cloud", "alone")
DEVICE = "pyb-vxlan"
# What a packet of an overlay carries in addition: outer Ethernet, IP, UDP and VXLAN headers.
_OVERHEAD = {4: 50, 6: 70}
# Behind every other route to the same place.
UNREACHABLE_METRIC = 4_000_000


@dataclass(frozen=True, slots=True)
class Configuration:
    """How the nodes of a cluster are joined; ``alone`` is for the one node of a cluster, whose pods hide behind it."""

    backend: str = "vxlan"
    cluster_cidrs: tuple[str, ...] = ()  # the ranges of all pods; without them those of the nodes count
    vni: int = 1
    port: int = 8472
    mtu: int = 0  # 0: what the underlying link allows
    masquerade: bool = True
    cni_folder: Path | None = None  # where the CNI configuration is written; None leaves it to others
    cni_state: Path | None = None
    policies: bool = True  # whether network policies are enforced
    policy_socket: Path | None = (
        None  # where the CNI plugin asks whether a pod's rules are in; None: it does not
    )
    cni_plugins: Path | None = None  # where that plugin is put

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"there is no backend {self.backend!r}: use one of {', '.join(BACKENDS)}")
        for cidr in self.cluster_cidrs:
            ip_network(cidr)


@dataclass(frozen=True, slots=True)
class Peer:
    """A node as the others see it."""

    name: str
    ranges: tuple[Network, ...]
    addresses: tuple[Address, ...]

    def address(self, version: int) -> Address | None:
        """Return the node's first address of a family."""
        return next((address for address in self.addresses if address.version == version), None)


@dataclass(frozen=True, slots=True)
class Route:
    """A way to some pods; without a gateway it makes them unreachable."""

    destination: Network
    gateway: Address | None = None
    overlay: bool = False  # over the overlay's device

    @property
    def unreachable(self) -> bool:
        return self.gateway is None


@dataclass(frozen=True, slots=True)
class Overlay:
    """The VXLAN device of a node, and the peers that it sends packets to."""

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
    """Return the MAC address of a node's overlay device: everybody derives the same from the node's name."""
    digest = hashlib.sha256(f"pybernetes vxlan {name}".encode()).digest()
    return ":".join(f"{byte:02x}" for byte in (digest[0] & 0xFC | 0x02, *digest[1:6]))


def peer(node: Object) -> Peer:
    """Return what a Node object says about the network; what cannot be read is left out."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    addresses = [
        address["address"] for address in status.get("addresses") or () if address.get("type") == "InternalIP"
    ]
    return Peer(
        node["metadata"]["name"],
        tuple(network for text in ranges if (network := _parse(ip_network, text)) is not None),
        tuple(parsed for text in addresses if (parsed := _parse(ip_address, text)) is not None),
    )


def _parse(parser: Callable[[str], Parsed], text: str) -> Parsed | None:
    try:
        return parser(text)
    except ValueError:
        return None


def plan(own: Peer, peers: Iterable[Peer], configuration: Configuration, link_mtu: int = 0) -> Plan | None:
    """Return what a node needs to reach the pods of its peers; None as long as it has no range or address itself."""
    if not own.ranges or not own.addresses:
        return None
    others = sorted(
        (node for node in peers if node.name != own.name and node.ranges), key=lambda node: node.name
    )
    cluster = {ip_network(cidr) for cidr in configuration.cluster_cidrs}
    for node in (own, *others):
        cluster |= {
            pod_range for pod_range in node.ranges if not any(_within(pod_range, whole) for whole in cluster)
        }
    routes = {Route(pod_range) for pod_range in cluster}
    join = {"vxlan": _by_overlay, "host-gw": _by_gateways, "cloud": _by_others}[configuration.backend]
    peer_routes, overlay, problems = join(own, others, configuration)
    mtu = configuration.mtu or link_mtu
    if overlay is not None and not configuration.mtu and link_mtu:
        mtu = link_mtu - _OVERHEAD[overlay.local.version]
    return Plan(own, mtu, frozenset(routes | peer_routes), overlay, frozenset(cluster), tuple(problems))


def _within(small: Network, large: Network) -> bool:
    return small.version == large.version and small.subnet_of(large)  # type: ignore[arg-type]


_Joined = tuple[set[Route], Overlay | None, list[str]]


def _by_overlay(own: Peer, others: list[Peer], configuration: Configuration) -> _Joined:
    """Send packets to the peer's overlay device, whose address is the first of the peer's range."""
    local = own.addresses[0]
    routes, neighbours, forwarding, problems = set(), set(), set(), []
    for other in others:
        remote = other.address(local.version)
        if remote is None:
            problems.append(f"the node {other.name} has no address of the family of {local}")
            continue
        device = mac(other.name)
        forwarding.add((device, remote))
        for pod_range in other.ranges:
            routes.add(Route(pod_range, pod_range.network_address, overlay=True))
            neighbours.add((pod_range.network_address, device))
    overlay = Overlay(
        configuration.vni, configuration.port, local, mac(own.name),
        frozenset(pod_range.network_address for pod_range in own.ranges), frozenset(neighbours), frozenset(forwarding),
    )  # fmt: skip
    return routes, overlay, problems


def _by_gateways(own: Peer, others: list[Peer], configuration: Configuration) -> _Joined:
    """Send packets to the peer itself, which must be on the same link."""
    routes, problems = set(), []
    for other in others:
        for pod_range in other.ranges:
            gateway = other.address(pod_range.version)
            if gateway is None:
                problems.append(f"the node {other.name} has no address of the family of {pod_range}")
            else:
                routes.add(Route(pod_range, gateway))
    return routes, None, problems


def _by_others(own: Peer, others: list[Peer], configuration: Configuration) -> _Joined:
    """Leave it to the cloud: its route controller makes the routes."""
    return set(), None, []
