"""A Gateway and the routes that name it become ports with chains, and the status of each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import attachment, hostnames, precedence
from pybernetes.control_plane.gateway.attachment import Attached
from pybernetes.control_plane.gateway.cluster_view import ClusterView
from pybernetes.control_plane.gateway.conditions import Condition
from pybernetes.control_plane.gateway.listeners import Listener, listeners_of
from pybernetes.control_plane.gateway.model import Backend, Chain, Cluster, Entry, Port, Route
from pybernetes.control_plane.gateway.routes import grpcroute, httproute, tlsroute
from pybernetes.control_plane.gateway.routes.translated import Translated, order_of

TRANSLATORS: dict[str, Callable[[Object, ClusterView], Translated]] = {
    module.KIND: module.translate for module in (httproute, grpcroute, tlsroute)
}
Problem = tuple[str, str]


@dataclass(slots=True)
class RouteStatus:
    """What a route is told about the references by which it names the Gateway."""

    kind: str
    route: Object
    parents: list[tuple[Object, list[Condition]]] = field(default_factory=list)


@dataclass(slots=True)
class GatewayPlan:
    """What a Gateway becomes."""

    entry: Entry
    listeners: list[Listener]
    routes: list[RouteStatus]
    refused: Problem | None = None


@dataclass(slots=True)
class _Traffic:
    """What is attached to one listener."""

    hosts: dict[str, list[Route]] = field(default_factory=lambda: defaultdict(list))
    names: dict[str, tuple[Backend, ...]] = field(default_factory=dict)  # for bytes, by server name


def refusal(gateway: Object) -> Problem | None:
    """Return why a Gateway cannot be had as it is at all. What would be left out in silence is refused."""
    spec = gateway["spec"]
    if (spec.get("infrastructure") or {}).get("parametersRef"):
        return "InvalidParameters", "spec.infrastructure.parametersRef: there are no parameters"
    if spec.get("tls"):
        return "Invalid", "spec.tls: certificates of clients and towards backends are not supported"
    for address in spec.get("addresses") or ():
        if address.get("value") or address.get("type", "IPAddress") != "IPAddress":
            return "UnsupportedAddress", "spec.addresses: addresses come from the load balancers' pool"
    return None


def translate(gateway: Object, routes: Iterable[tuple[str, Object]], view: ClusterView) -> GatewayPlan:
    """Return what a Gateway becomes with the routes (kind and object) that name it."""
    meta = gateway["metadata"]
    listeners = listeners_of(gateway, view)
    traffic = [_Traffic() for _ in listeners]
    clusters: dict[str, Cluster] = {}
    statuses: list[RouteStatus] = []
    for kind, route in sorted(routes, key=lambda pair: (order_of(pair[1]), pair[0])):
        translated = TRANSLATORS[kind](route, view)
        status = RouteStatus(kind, route)
        counted: set[int] = set()
        for reference in route["spec"].get("parentRefs") or ():
            if not attachment.refers_to(reference, route["metadata"]["namespace"], gateway):
                continue
            answer = translated.refused or attachment.attach(
                reference, route, kind, translated.hosts, gateway, listeners, view
            )
            status.parents.append((reference, _conditions(answer, translated.unresolved)))
            for attached in answer if isinstance(answer, list) else ():
                index = next(i for i, listener in enumerate(listeners) if listener is attached.listener)
                if index not in counted:
                    counted.add(index)
                    attached.listener.attached += 1
                    clusters.update(translated.clusters)
                    _add(traffic[index], attached, translated)
        statuses.append(status)
    refused = refusal(gateway)
    ports = () if refused else _ports(listeners, traffic)
    certificates = {
        key: pair
        for listener in listeners
        if listener.is_usable
        for key, pair in listener.certificates.items()
    }
    entry = Entry(f"{meta['namespace']}/{meta['name']}", ports, clusters, {} if refused else certificates)
    return GatewayPlan(entry, listeners, statuses, refused)


def _conditions(answer: list[Attached] | Problem, unresolved: Problem | None) -> list[Condition]:
    bad = None if isinstance(answer, list) else answer
    return [
        Condition("Accepted", bad is None, *(bad or ("Accepted", ""))),
        Condition("ResolvedRefs", unresolved is None, *(unresolved or ("ResolvedRefs", ""))),
    ]


def _add(traffic: _Traffic, attached: Attached, translated: Translated) -> None:
    for host in attached.hosts:
        if translated.kind == tlsroute.KIND:
            traffic.names.setdefault(host, translated.backends)  # the oldest route has the name
        else:
            traffic.hosts[host] += translated.routes


def _ports(listeners: list[Listener], traffic: list[_Traffic]) -> tuple[Port, ...]:
    by_port: dict[int, list[tuple[Listener, _Traffic]]] = defaultdict(list)
    for listener, attached in zip(listeners, traffic, strict=True):
        if listener.is_usable:
            by_port[listener.port].append((listener, attached))
    ports: list[Port] = []
    for number, sharing in sorted(by_port.items()):
        is_tls = sharing[0][0].is_tls
        chains = _tls_chains(sharing) if is_tls else (Chain("http", hosts=_shared_hosts(sharing)),)
        ports.append(Port(number, is_tls, tuple(chains)))
    return tuple(ports)


def _shared_hosts(sharing: list[tuple[Listener, _Traffic]]) -> dict[str, list[Route]]:
    """Return the hosts of listeners that share a port. A host belongs to the most specific listener, and to no other."""
    result: dict[str, list[Route]] = {}
    names = [listener.host for listener, _ in sharing]
    for listener, traffic in sharing:
        own = {host: routes for host, routes in traffic.hosts.items() if _owner(host, names) == listener.host}
        own.setdefault(
            listener.host or hostnames.EVERY, []
        )  # even without routes: a wider listener must not have it
        result |= precedence.ordered(own)
    return result


def _owner(host: str, listeners: list[str]) -> str:
    covering = [name for name in listeners if hostnames.covers(name, host)]
    return max(covering, key=hostnames.specificity)


def _tls_chains(sharing: list[tuple[Listener, _Traffic]]) -> Iterable[Chain]:
    """Yield a chain for each name that connections can ask for; each name has one chain."""
    taken: set[str] = set()
    for listener, traffic in sorted(
        sharing, key=lambda pair: hostnames.specificity(pair[0].host), reverse=True
    ):
        certificates = tuple(listener.certificates)
        if "TLSRoute" in listener.kinds:
            for host, backends in traffic.names.items():
                if host not in taken:
                    taken.add(host)
                    yield Chain(f"{listener.name}/{host}", _names(host), certificates, backends=backends)
        elif (host := listener.host or hostnames.EVERY) not in taken:
            taken.add(host)
            yield Chain(listener.name, _names(host), certificates, precedence.ordered(traffic.hosts))


def _names(host: str) -> tuple[str, ...]:
    return () if host == hostnames.EVERY else (host,)
