"""What must hold on a node: from a Service, its EndpointSlices and the node to portals. Pure.

A portal is one port of a Service in one family of addresses, with the targets that traffic may be sent to from
this node. Backends know portals only.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Object = dict[str, Any]
SERVICE_NAME_LABEL = "kubernetes.io/service-name"
ZONE_LABEL = "topology.kubernetes.io/zone"
_PROTOCOLS = {"TCP": "tcp", "UDP": "udp"}  # SCTP is left out
_FAMILIES = {"IPv4": 4, "IPv6": 6}


class Node(NamedTuple):
    """What decisions need to know of the node that they are for."""

    name: str
    zone: str = ""
    addresses: tuple[str, ...] = ()
    pod_ranges: tuple[str, ...] = ()


class Target(NamedTuple):
    """Where traffic is sent."""

    ip: str
    port: int
    local: bool = False

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"


class Endpoint(NamedTuple):
    """An endpoint as slices tell of it."""

    target: Target
    ready: bool
    serving: bool
    terminating: bool
    zones: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ServicePort:
    """One port of a Service in one family, and where its traffic goes from here.

    ``cluster`` are the targets of the traffic policy Cluster and ``local`` those of the policy Local, each empty
    when no traffic follows that policy. ``exists`` says whether there is a target anywhere: without any, traffic
    is refused; where only the policy leaves none, it is dropped.
    """

    service: str  # namespace/name
    port_name: str
    protocol: str
    family: int
    cluster_ip: str
    port: int
    node_port: int = 0
    external_ips: tuple[str, ...] = ()
    load_balancer_ips: tuple[str, ...] = ()
    source_ranges: tuple[str, ...] = ()
    affinity_seconds: int = 0
    internal_local: bool = False
    external_local: bool = False
    health_check_port: int = 0
    cluster: tuple[Target, ...] = ()
    local: tuple[Target, ...] = ()
    exists: bool = False
    serving: frozenset[tuple[str, int]] = frozenset()  # of UDP: whose connections may live on

    @property
    def name(self) -> str:
        """How the port is called among people."""
        return f"{self.service}:{self.port_name}" if self.port_name else self.service

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What tells it from other portals."""
        return (self.service, self.port_name, self.protocol, self.family)

    @property
    def external(self) -> bool:
        """Whether it can be reached otherwise than by its cluster address."""
        return bool(self.node_port or self.external_ips or self.load_balancer_ips)

    @property
    def internal_targets(self) -> tuple[Target, ...]:
        """Where traffic to the cluster address goes."""
        return self.local if self.internal_local else self.cluster

    @property
    def external_targets(self) -> tuple[Target, ...]:
        """Where traffic from outside goes."""
        return self.local if self.external_local else self.cluster

    @property
    def reachable(self) -> tuple[Target, ...]:
        """Every target that traffic may be sent to from here."""
        if not self.local or self.local == self.cluster:
            return self.cluster
        return tuple(dict.fromkeys((*self.cluster, *self.local)))


class ServiceState(NamedTuple):
    """All that a Service asks of a node."""

    portals: tuple[ServicePort, ...] = ()
    health_check_port: int = 0
    local_ready: int = 0  # how many of its pods on this node are ready


NOTHING = ServiceState()


def service_state(service: Object | None, slices: Iterable[Object], node: Node) -> ServiceState:
    """What a Service asks of the node; nothing if it has no cluster address or is another's name."""
    if service is None:
        return NOTHING
    spec = service["spec"]
    addresses = spec.get("clusterIPs") or [spec.get("clusterIP") or "None"]
    if spec.get("type") == "ExternalName" or addresses[0] in ("None", ""):
        return NOTHING
    endpoints = _endpoints(slices, node)
    portals = []
    for address in addresses:
        family = ipaddress.ip_address(address).version
        for port in spec.get("ports") or ():
            protocol = _PROTOCOLS.get(port.get("protocol", "TCP"))
            if protocol is not None:
                found = endpoints.get((family, port.get("name", ""), protocol), {})
                portals.append(_portal(service, port, protocol, address, family, list(found.values()), node))
    ready = {
        each.target.ip
        for found in endpoints.values()
        for each in found.values()
        if each.target.local and each.ready
    }
    return ServiceState(tuple(portals), _health_check_port(spec), len(ready))


def _portal(
    service: Object,
    port: Object,
    protocol: str,
    address: str,
    family: int,
    endpoints: list[Endpoint],
    node: Node,
) -> ServicePort:
    spec, meta = service["spec"], service["metadata"]
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    external_ips = _of_family(spec.get("externalIPs") or (), family)
    load_balancer_ips = _of_family(
        (each["ip"] for each in ingress if each.get("ip") and each.get("ipMode", "VIP") == "VIP"), family
    )
    node_port = port.get("nodePort", 0)
    outside = bool(node_port or external_ips or load_balancer_ips)
    internal_local = spec.get("internalTrafficPolicy") == "Local"
    external_local = spec.get("externalTrafficPolicy") == "Local"
    uses_cluster = not internal_local or outside
    uses_local = internal_local or (external_local and outside)
    cluster = cluster_targets(endpoints, node) if uses_cluster else ()
    local = local_targets(endpoints) if uses_local else ()
    usable = (each.ready or (each.serving and each.terminating) for each in endpoints)
    return ServicePort(
        service=f"{meta.get('namespace', '')}/{meta['name']}",
        port_name=port.get("name", ""),
        protocol=protocol,
        family=family,
        cluster_ip=address,
        port=port["port"],
        node_port=node_port,
        external_ips=external_ips,
        load_balancer_ips=load_balancer_ips,
        source_ranges=_source_ranges(spec.get("loadBalancerSourceRanges") or (), family),
        affinity_seconds=_affinity(spec),
        internal_local=internal_local,
        external_local=external_local,
        health_check_port=_health_check_port(spec),
        cluster=cluster,
        local=local,
        exists=bool(cluster) or (uses_local and any(usable)),
        serving=frozenset(each.target[:2] for each in endpoints if each.serving)
        if protocol == "udp"
        else frozenset(),
    )


def cluster_targets(endpoints: list[Endpoint], node: Node) -> tuple[Target, ...]:
    """The targets of the policy Cluster: the ready ones that hints leave, or else those that still serve."""
    ready = [each for each in endpoints if each.ready]
    if ready:
        if all(each.nodes for each in ready):
            same_node = [each.target for each in ready if node.name in each.nodes]
            if same_node:
                return tuple(same_node)
        if all(each.zones for each in ready):
            same_zone = [each.target for each in ready if node.zone in each.zones]
            if same_zone:
                return tuple(same_zone)
        return tuple([each.target for each in ready])
    return tuple([each.target for each in endpoints if each.serving and each.terminating])


def local_targets(endpoints: list[Endpoint]) -> tuple[Target, ...]:
    """The targets of the policy Local: those on this node that are ready, or else those that still serve."""
    here = [each for each in endpoints if each.target.local]
    ready = tuple([each.target for each in here if each.ready])
    return ready or tuple([each.target for each in here if each.serving and each.terminating])


def _endpoints(
    slices: Iterable[Object], node: Node
) -> dict[tuple[int, str, str], dict[tuple[str, int], Endpoint]]:
    """Endpoints by family, name of the port and protocol; one that several slices name counts once."""
    found: dict[tuple[int, str, str], dict[tuple[str, int], Endpoint]] = {}
    for each in sorted(slices, key=lambda obj: obj["metadata"]["name"]):
        family = _FAMILIES.get(each.get("addressType", ""))
        ports = each.get("ports")
        if family is None or not ports:
            continue
        rows = [row for item in each.get("endpoints") or () if (row := _row(item, node)) is not None]
        for port in ports:
            protocol, number = _PROTOCOLS.get(port.get("protocol", "TCP")), port.get("port")
            if protocol is None or not number:
                continue
            named = found.setdefault((family, port.get("name") or "", protocol), {})
            for ip, local, *rest in rows:
                if local or (ip, number) not in named:
                    named[ip, number] = Endpoint(Target(ip, number, local), *rest)
    return {key: dict(sorted(value.items())) for key, value in found.items()}


def _row(item: Object, node: Node) -> tuple[Any, ...] | None:
    addresses = item.get("addresses")
    if not addresses:
        return None
    conditions = item.get("conditions") or {}
    ready = conditions.get("ready") is not False
    serving = conditions.get("serving")
    hints = item.get("hints") or {}
    return (
        addresses[0],
        bool(node.name) and item.get("nodeName") == node.name,
        ready,
        serving is not False,
        conditions.get("terminating") is True,
        _names(hints.get("forZones")),
        _names(hints.get("forNodes")),
    )


_NO_NAMES: frozenset[str] = frozenset()


def _names(hints: list[Mapping[str, str]] | None) -> frozenset[str]:
    return frozenset(each["name"] for each in hints) if hints else _NO_NAMES


def _of_family(addresses: Iterable[str], family: int) -> tuple[str, ...]:
    return tuple(each for each in addresses if ipaddress.ip_address(each).version == family)


def _source_ranges(ranges: Iterable[str], family: int) -> tuple[str, ...]:
    """The ranges of a family; none if one of them lets everybody in."""
    networks = [ipaddress.ip_network(each.strip(), strict=False) for each in ranges]
    own = [each for each in networks if each.version == family]
    return () if any(each.prefixlen == 0 for each in own) else tuple(str(each) for each in own)


def _affinity(spec: Object) -> int:
    if spec.get("sessionAffinity") != "ClientIP":
        return 0
    return ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds") or 10800


def _health_check_port(spec: Object) -> int:
    wanted = spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    return spec.get("healthCheckNodePort", 0) if wanted else 0


def node_of(name: str, obj: Object | None) -> Node:
    """What matters of a Node object, which may not be there yet."""
    if obj is None:
        return Node(name)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    addresses = [
        each["address"]
        for kind in ("InternalIP", "ExternalIP")
        for each in status.get("addresses") or ()
        if each.get("type") == kind
    ]
    ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    zone = (obj["metadata"].get("labels") or {}).get(ZONE_LABEL, "")
    return Node(name, zone, tuple(addresses), tuple(ranges))


def stale_connections(
    entries: Iterable[tuple[str, int, str, int]], portals: Iterable[ServicePort]
) -> Iterator[tuple[str, int, str, int]]:
    """UDP connections to a Service (address, port) that lead to a target (address, port) which serves no more."""
    by_address: dict[tuple[str, int], frozenset[tuple[str, int]]] = {}
    by_node_port: dict[int, frozenset[tuple[str, int]]] = {}
    for portal in portals:
        if portal.protocol != "udp":
            continue
        for address in (portal.cluster_ip, *portal.external_ips, *portal.load_balancer_ips):
            by_address[address, portal.port] = portal.serving
        # A node port is known by its number alone: without a target, others' connections would match.
        if portal.node_port and portal.serving:
            by_node_port[portal.node_port] = portal.serving
    for entry in entries:
        address, port, target, target_port = entry
        serving = by_address.get((address, port))
        if serving is None:
            serving = by_node_port.get(port)
        if serving is not None and (target, target_port) not in serving:
            yield entry
