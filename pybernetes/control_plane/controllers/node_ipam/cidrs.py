"""Ranges of addresses for nodes, cut from those of the cluster. Pure."""

from __future__ import annotations

import ipaddress
from argparse import Namespace

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_SIZES = {4: 24, 6: 64}
_LARGEST_CUT = 16  # more than 65,536 parts of one range are refused, as upstream refuses them


class Exhausted(Exception):
    """There is no part left."""


class CidrSet:
    """The parts of a range, and which of them are taken."""

    def __init__(self, network: Network, size: int) -> None:
        if size < network.prefixlen:
            raise ValueError(
                "Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be less than or equal to "
                "--node-cidr-mask-size configured for CIDR family"
            )
        if network.version == 6 and size - network.prefixlen > _LARGEST_CUT:
            raise ValueError(
                "New CIDR set failed; the node CIDR size is too big: "
                f"{network} cannot be cut into parts of /{size}"
            )
        self.network, self.size = network, size
        self._step = network.max_prefixlen - size
        self._base = int(network.network_address) >> self._step
        self._count = 1 << (size - network.prefixlen)
        self._used: set[int] = set()
        self._next = 0

    def allocate(self) -> str:
        """Allocate the next free part; raise Exhausted if there is none."""
        if len(self._used) >= self._count:
            raise Exhausted(
                f"CIDR allocation failed; there are no remaining CIDRs left to allocate in {self.network}"
            )
        while self._next in self._used:
            self._next = (self._next + 1) % self._count
        part = self._next
        self._used.add(part)
        self._next = (part + 1) % self._count
        address = type(self.network.network_address)((self._base + part) << self._step)
        return f"{address}/{self.size}"

    def occupy(self, text: str | Network) -> None:
        """Mark the parts that a range touches as used; raise ValueError if it is outside of this one."""
        self._used.update(self._parts(text))

    def release(self, text: str) -> None:
        """Free the parts that a range touches."""
        self._used.difference_update(self._parts(text))

    def _parts(self, text: str | Network) -> range:
        other = ipaddress.ip_network(text, strict=False)
        if other.version != self.network.version or not other.overlaps(self.network):
            raise ValueError(f"cidr {other} is out the range of cluster cidr {self.network}")
        first = (int(other.network_address) >> self._step) - self._base
        last = (int(other.broadcast_address) >> self._step) - self._base
        return range(max(0, first), min(self._count - 1, last) + 1)


def cluster_cidrs(text: str) -> list[Network]:
    """Return the ranges of ``--cluster-cidr``: one, or one of each family."""
    if not text.strip():
        raise ValueError("Controller: Must specify --cluster-cidr if --allocate-node-cidrs is set")
    cidrs = [ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",")]
    if len(cidrs) > 2:
        raise ValueError(f"length of clusterCIDRs is:{len(cidrs)} more than max allowed of 2")
    if len(cidrs) == 2 and cidrs[0].version == cidrs[1].version:
        raise ValueError(
            "len of ClusterCIDRs==2 and they are not configured as dual stack (at least one from each IPFamily)"
        )
    return cidrs


def mask_sizes(options: Namespace, networks: list[Network]) -> list[int]:
    """Return how large the parts for nodes are, one size for each range of the cluster."""
    both, four, six = (
        options.node_cidr_mask_size,
        options.node_cidr_mask_size_ipv4,
        options.node_cidr_mask_size_ipv6,
    )
    sizes = {4: four or _SIZES[4], 6: six or _SIZES[6]}
    if len(networks) > 1:
        if both:
            raise ValueError("usage of --node-cidr-mask-size is not allowed with dual-stack clusters")
    elif both:
        if four or six:
            raise ValueError(
                "usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if "
                "--node-cidr-mask-size is set. For dual-stack clusters please unset it and use IPFamily specific flags"
            )
        sizes = {4: both, 6: both}
    elif four and networks[0].version == 6:
        raise ValueError("usage of --node-cidr-mask-size-ipv4 is not allowed for a single-stack IPv6 cluster")
    elif six and networks[0].version == 4:
        raise ValueError("usage of --node-cidr-mask-size-ipv6 is not allowed for a single-stack IPv4 cluster")
    return [sizes[network.version] for network in networks]


def sets(options: Namespace) -> list[CidrSet]:
    """Return the ranges of the options, without what services have."""
    networks = cluster_cidrs(options.cluster_cidr)
    result = [
        CidrSet(network, size) for network, size in zip(networks, mask_sizes(options, networks), strict=True)
    ]
    for part in options.service_cluster_ip_range.split(","):
        if part.strip():
            service = ipaddress.ip_network(part.strip(), strict=False)
            for cidr_set in result:
                if cidr_set.network.version == service.version and cidr_set.network.overlaps(service):
                    cidr_set.occupy(service)
    return result
