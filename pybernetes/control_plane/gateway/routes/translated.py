"""What a route of any kind becomes, and the steps that kinds have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import filters
from pybernetes.control_plane.gateway.backends import Backends
from pybernetes.control_plane.gateway.checks import Unsupported
from pybernetes.control_plane.gateway.model import Action, Backend, Cluster, Match, Order, Route

Problem = tuple[str, str]  # a reason and a message


@dataclass(frozen=True, slots=True)
class Translated:
    """The routes of an object, for whichever hosts they are attached to."""

    kind: str
    hosts: tuple[str, ...] = ()
    routes: Sequence[Route] = ()
    backends: tuple[Backend, ...] = ()  # of routes for bytes
    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    refused: Problem | None = None  # why it is not accepted at all
    unresolved: Problem | None = None  # why some of its references lead nowhere


def order_of(obj: Object) -> Order:
    """Return by what an object comes before or after others: the oldest first, then by name."""
    meta = obj["metadata"]
    return Order(meta.get("creationTimestamp") or "", f"{meta['namespace']}/{meta['name']}")


def weighted(references: Iterable[Object], backends: Backends) -> tuple[Backend, ...]:
    """Return the backends of references, with their filters; those that are to get nothing are left out."""
    result: list[Backend] = []
    for reference in references:
        cluster = backends.resolve(reference)
        changes = filters.changes(reference.get("filters") or (), backends.resolve, of_backend=True)
        if reference.get("weight", 1):
            result.append(Backend(cluster, reference.get("weight", 1), changes))
    return tuple(result)


def of_rules(
    obj: Object,
    backends: Backends,
    match_of: Callable[[Object], Match],
    action_of: Callable[[Object, Backends], Action],
) -> Translated:
    """Return what an object with rules becomes: a route for each match."""
    spec, order = obj["spec"], order_of(obj)
    kind, hosts = backends.kind, tuple(spec.get("hostnames") or ())
    routes: list[Route] = []
    try:
        for number, rule in enumerate(spec.get("rules") or ()):
            action = action_of(rule, backends)
            for index, match in enumerate(rule.get("matches") or ({},)):
                routes.append(Route(match_of(match), action, order._replace(rule=number, match=index)))
    except Unsupported as error:
        return Translated(kind, hosts, refused=(error.reason, error.message), unresolved=backends.problem)
    return Translated(kind, hosts, routes, clusters=backends.clusters, unresolved=backends.problem)
