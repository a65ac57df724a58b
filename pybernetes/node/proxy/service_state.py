"""What a Service asks of a node: from the Service, its EndpointSlices and the node to ServicePorts. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple, TypeAlias

from pybernetes.api.resource import Object
from pybernetes.api.validation.addresses import parse_cidr_sloppy, parse_sloppy
from pybernetes.node.proxy.endpoint import PROTOCOLS, Endpoint, endpoints_by_port
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.service_port import STALE_PROTOCOLS, ServicePort
from pybernetes.node.proxy.topology import cluster_targets, local_targets

# Rules of one Service, about: a few words in it become the product of its ports with its addresses, source ranges and endpoints.
MOST_RULES = 32768


class ServiceState(NamedTuple):
    """All that a Service asks of a node."""

    ports: tuple[ServicePort, ...] = ()
    health_check_port: int = 0
    local_ready: int = 0  # how many of its pods on this node are ready


NO_STATE = ServiceState()
# What no other Service may claim as an external address: an address with all its ports, or one port of it.
Reserved: TypeAlias = str | tuple[str, str, int]


def service_state(
    service: Object | None, slices: Iterable[Object], node: Node, reserved: Container[Reserved] = ()
) -> ServiceState:
    """Return what a Service asks of the node.

    That is nothing if it has no cluster IP, is an ExternalName, or asks for more than a node can have. External addresses
    that are reserved belong to others, whatever it says.
    """
    if service is None:
        return NO_STATE
    spec = service["spec"]
    addresses = spec.get("clusterIPs") or [spec.get("clusterIP") or "None"]
    if spec.get("type") == "ExternalName" or addresses[0] in ("None", ""):
        return NO_STATE
    slices = list(slices)
    if rules_of(service, slices) > MOST_RULES:
        return NO_STATE
    by_port = endpoints_by_port(slices, node)
    ports = []
    for address in filter(None, map(parse_sloppy, addresses)):
        family = address.version
        outside = _outside(service, family, reserved)
        for port in spec.get("ports") or ():
            protocol = PROTOCOLS.get(port.get("protocol", "TCP"))
            if protocol is not None:
                endpoints = list(by_port.get((family, port.get("name", ""), protocol), {}).values())
                free = outside.without(reserved, protocol, port["port"])
                ports.append(
                    _service_port(service, port, protocol, str(address), family, free, endpoints, node)
                )
    ready: dict[int, set[str]] = {}
    for (version, _, _), endpoints_of_port in by_port.items():
        ready.setdefault(version, set()).update(
            endpoint.target.ip
            for endpoint in endpoints_of_port.values()
            if endpoint.target.local and endpoint.ready
        )
    pods = max(map(len, ready.values()), default=0)  # a pod of both families is one
    return ServiceState(tuple(ports), _health_check_port(spec), pods)


def rules_of(service: Object, slices: Iterable[Object]) -> int:
    """Return about how many rules a Service takes."""
    spec = service["spec"]
    outside = (spec.get("externalIPs"), spec.get("loadBalancerSourceRanges"), _ingresses(service))
    own = len(spec.get("ports") or ()) * (1 + sum(len(listed or ()) for listed in outside))
    return own + sum(len(piece.get("endpoints") or ()) * len(piece.get("ports") or ()) for piece in slices)


def _ingresses(service: Object) -> list[Object]:
    return ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []


class _Outside(NamedTuple):
    """The addresses of a family at which all ports of a Service are reached from outside, and from where."""

    external_ips: tuple[str, ...]
    load_balancer_ips: tuple[str, ...]
    source_ranges: tuple[str, ...]

    def without(self, reserved: Container[Reserved], protocol: str, port: int) -> _Outside:
        """Return these without the addresses whose port belongs to others."""
        if not self.external_ips:
            return self
        free = tuple(ip for ip in self.external_ips if (ip, protocol, port) not in reserved)
        return self._replace(external_ips=free)


def _outside(service: Object, family: int, reserved: Container[Reserved]) -> _Outside:
    spec = service["spec"]
    balancers = (
        ingress["ip"]
        for ingress in _ingresses(service)
        if ingress.get("ip") and ingress.get("ipMode", "VIP") == "VIP"
    )
    return _Outside(
        tuple(ip for ip in _of_family(spec.get("externalIPs") or (), family) if ip not in reserved),
        _of_family(balancers, family),
        _source_ranges(spec.get("loadBalancerSourceRanges") or (), family),
    )


def _service_port(
    service: Object,
    port: Object,
    protocol: str,
    address: str,
    family: int,
    outside: _Outside,
    endpoints: list[Endpoint],
    node: Node,
) -> ServicePort:
    spec, meta = service["spec"], service["metadata"]
    node_port = port.get("nodePort", 0)
    external = bool(node_port or outside.external_ips or outside.load_balancer_ips)
    internal_local = spec.get("internalTrafficPolicy") == "Local"
    external_local = spec.get("externalTrafficPolicy") == "Local"
    uses_cluster = not internal_local or external
    uses_local = internal_local or (external_local and external)
    cluster = cluster_targets(endpoints, node) if uses_cluster else ()
    local = local_targets(endpoints) if uses_local else ()
    usable = (endpoint.ready or (endpoint.serving and endpoint.terminating) for endpoint in endpoints)
    return ServicePort(
        service=f"{meta.get('namespace', '')}/{meta['name']}",
        port_name=port.get("name", ""),
        protocol=protocol,
        family=family,
        cluster_ip=address,
        port=port["port"],
        node_port=node_port,
        external_ips=outside.external_ips,
        load_balancer_ips=outside.load_balancer_ips,
        source_ranges=outside.source_ranges,
        affinity_seconds=_affinity_seconds(spec),
        internal_local=internal_local,
        external_local=external_local,
        health_check_port=_health_check_port(spec),
        cluster=cluster,
        local=local,
        exists=bool(cluster) or (uses_local and any(usable)),
        serving=frozenset(endpoint.target[:2] for endpoint in endpoints if endpoint.serving)
        if protocol in STALE_PROTOCOLS
        else frozenset(),
    )


def _of_family(addresses: Iterable[str], family: int) -> tuple[str, ...]:
    """Return the addresses of a family as the kernel's tools write them, whatever an API server has let in."""
    parsed = filter(None, map(parse_sloppy, addresses))
    return tuple(dict.fromkeys(str(address) for address in parsed if address.version == family))


def _source_ranges(ranges: Iterable[str], family: int) -> tuple[str, ...]:
    """Return the ranges of a family; none if one of them lets everybody in."""
    networks = [parse_cidr_sloppy(text.strip()) for text in ranges]
    of_family = [network for network in networks if network is not None and network.version == family]
    if any(network.prefixlen == 0 for network in of_family):
        return ()
    return tuple(str(network) for network in of_family)


def _affinity_seconds(spec: Object) -> int:
    if spec.get("sessionAffinity") != "ClientIP":
        return 0
    return ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds") or 10800


def _health_check_port(spec: Object) -> int:
    has_one = spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    return spec.get("healthCheckNodePort", 0) if has_one else 0
