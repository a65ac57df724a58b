"""Which route of a host is asked first: the Gateway API's order, which Ingress's fits into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pybernetes.control_plane.gateway import hostnames
from pybernetes.control_plane.gateway.model import Route

_PATHS = {"exact": 2, "regex": 1, "prefix": 0}
# How many routes a port may have after those of wider names were added to narrower ones.
MOST_COPIES = 50_000


def rank(route: Route) -> tuple[object, ...]:
    """Return what routes are sorted by: exact paths, longer paths, a method, more headers, more parameters, age."""
    match = route.match
    path = match.path.rstrip("/") if match.path_type == "prefix" else match.path
    return (
        -_PATHS[match.path_type], -len(path), not match.method, -len(match.headers), -len(match.parameters), route.order,
    )  # fmt: skip


def ordered(hosts: Mapping[str, Iterable[Route]]) -> dict[str, list[Route]]:
    """Sort the routes of each host, and add those of wider names after them: they are for its requests as well.

    Each host has its routes in any case. Beyond a number of routes those of wider names are left away, so that many names
    and many routes for all names do not multiply.
    """
    own = {host: sorted(routes, key=rank) for host, routes in hosts.items()}
    room = MOST_COPIES - sum(map(len, own.values()))
    result: dict[str, list[Route]] = {}
    for host in sorted(own, key=hostnames.specificity):
        routes = list(own[host])
        for wider in hostnames.wider(host):
            more = own.get(wider)
            if more and len(more) <= room:
                routes += more
                room -= len(more)
        result[host] = routes
    return result
