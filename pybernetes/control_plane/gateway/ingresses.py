"""All Ingresses of our classes become one entry: a port without TLS and one with.

A host belongs to the namespace of the oldest Ingress that names it: an Ingress of another namespace does not get it, so that
nobody can take over the traffic of a host that somebody else has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pybernetes.api.default_class import INGRESS, default_class
from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import checks, hostnames, precedence
from pybernetes.control_plane.gateway.backends import Backends
from pybernetes.control_plane.gateway.certificates import BadCertificate, key_pair
from pybernetes.control_plane.gateway.checks import Unsupported
from pybernetes.control_plane.gateway.cluster_view import ClusterView
from pybernetes.control_plane.gateway.kinds import CONTROLLER
from pybernetes.control_plane.gateway.model import (
    NO_CLUSTER,
    Action,
    Backend,
    Chain,
    Cluster,
    Entry,
    Match,
    Order,
    Port,
    Route,
    Value,
)
from pybernetes.control_plane.gateway.routes.translated import order_of

NAME = "ingress"  # no Gateway is called so: those have a namespace
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_LAST = 1 << 30  # the default backend comes after all rules


@dataclass(slots=True)
class IngressPlan:
    """What the Ingresses become together, and what is wrong with each."""

    entry: Entry
    ingresses: list[Object]
    problems: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by namespace/name


@dataclass(slots=True)
class _Building:
    view: ClusterView
    plan: IngressPlan
    hosts: dict[str, list[Route]] = field(default_factory=lambda: defaultdict(list))
    owners: dict[str, str] = field(default_factory=dict)  # of hosts
    names: dict[str, str] = field(default_factory=dict)  # Secrets by the name that connections ask for
    clusters: dict[str, Cluster] = field(default_factory=dict)
    certificates: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)


def ours(ingress: Object, classes: Mapping[str, Object]) -> bool:
    """Return whether an Ingress is of a class whose controller is this one."""
    meta, spec = ingress["metadata"], ingress["spec"]
    name = spec.get("ingressClassName") or (meta.get("annotations") or {}).get(_CLASS_ANNOTATION)
    class_ = classes.get(name) if name else default_class(classes.values(), INGRESS)
    return class_ is not None and class_["spec"].get("controller") == CONTROLLER


def translate(ingresses: Iterable[Object], view: ClusterView) -> IngressPlan:
    """Return what Ingresses of our classes become."""
    plan = IngressPlan(Entry(NAME), sorted(ingresses, key=order_of))
    building = _Building(view, plan)
    for ingress in plan.ingresses:
        _add_rules(ingress, building)
        _add_certificates(ingress, building)
    if not plan.ingresses:
        return plan
    hosts = precedence.ordered({hostnames.EVERY: [], **building.hosts})
    ports = [Port(80, False, (Chain("http", hosts=hosts),))]
    if building.names:
        ports.append(Port(443, True, tuple(_chains(building.names, hosts))))
    plan.entry = Entry(NAME, tuple(ports), building.clusters, building.certificates)
    return plan


def _chains(names: Mapping[str, str], hosts: Mapping[str, list[Route]]) -> Iterable[Chain]:
    """Yield a chain for each name with a certificate: it has the hosts that the name covers, and no others."""
    for name, secret in names.items():
        if name.startswith("*"):
            covered = {host: routes for host, routes in hosts.items() if hostnames.covers(name, host)}
        else:
            nearest = next((host for host in (name, *hostnames.wider(name)) if host in hosts), None)
            covered = {name: hosts[nearest]} if nearest else {}
        yield Chain(name, () if name == hostnames.EVERY else (name,), (secret,), covered)


def _add_rules(ingress: Object, building: _Building) -> None:
    spec, order = ingress["spec"], order_of(ingress)
    backends = Backends(building.view, "Ingress", ingress["metadata"]["namespace"])
    for number, rule in enumerate(spec.get("rules") or ()):
        host = rule.get("host") or hostnames.EVERY
        if not _claim(host, ingress, building):
            continue
        for index, path in enumerate((rule.get("http") or {}).get("paths") or ()):
            try:
                match = _match(path, host)
            except Unsupported as error:
                building.plan.problems[order.name].append(error.message)
                continue
            place = order._replace(rule=number, match=index)
            building.hosts[host].append(_route(match, path["backend"], place, backends))
    default = spec.get("defaultBackend")
    if default and _claim(hostnames.EVERY, ingress, building):
        route = _route(Match(), default, order._replace(rule=_LAST), backends)
        building.hosts[hostnames.EVERY].append(route)
    building.clusters |= backends.clusters
    if backends.problem:
        building.plan.problems[order.name].append(backends.problem[1])


def _claim(host: str, ingress: Object, building: _Building) -> bool:
    """Return whether an Ingress may have a host: it is the first to name it, or of the namespace of the first."""
    namespace = ingress["metadata"]["namespace"]
    owner = building.owners.setdefault(host, namespace)
    if owner != namespace:
        message = f"the host {host} belongs to another namespace"
        building.plan.problems[order_of(ingress).name].append(message)
    return owner == namespace


def _match(path: Object, host: str) -> Match:
    value = checks.path(path.get("path") or "/")
    return Match("exact" if path["pathType"] == "Exact" else "prefix", value, headers=_one_label(host))


def _one_label(host: str) -> tuple[Value, ...]:
    """Return what a request's host has to be beside being covered: a wildcard of an Ingress stands for one label, unlike a Gateway's."""
    if not host.startswith("*."):
        return ()
    return (Value(":authority", f"(?i)[^.]+{re.escape(host[1:])}(:[0-9]+)?", is_regex=True),)


def _route(match: Match, backend: Object, order: Order, backends: Backends) -> Route:
    service = backend.get("service")
    cluster = NO_CLUSTER
    if service is None:
        backends.problem = backends.problem or (
            "InvalidKind",
            "backends that are no services are not supported",
        )
    else:
        key = f"{backends.namespace}/{service['name']}"
        known, port = backends.view.service(key), service.get("port") or {}
        if known is None:
            backends.problem = backends.problem or ("BackendNotFound", f"Service {key} does not exist")
        else:
            cluster = backends.of_port(known, port.get("number") or port.get("name"))
    return Route(match, Action((Backend(cluster),)), order)


def _add_certificates(ingress: Object, building: _Building) -> None:
    meta = ingress["metadata"]
    problems = building.plan.problems
    for entry in ingress["spec"].get("tls") or ():
        name = entry.get("secretName")
        if not name:
            problems[order_of(ingress).name].append("an entry of spec.tls names no Secret")
            continue
        key = f"{meta['namespace']}/{name}"
        secret = building.view.secret(key)
        if secret is None:
            problems[order_of(ingress).name].append(
                f"Secret {key} does not exist, or is not of type kubernetes.io/tls"
            )
            continue
        try:
            building.certificates[key] = key_pair(secret)
        except BadCertificate as error:
            problems[order_of(ingress).name].append(f"Secret {key}: {error}")
            continue
        for host in entry.get("hosts") or (hostnames.EVERY,):
            if _claim(host, ingress, building):
                building.names.setdefault(host, key)
