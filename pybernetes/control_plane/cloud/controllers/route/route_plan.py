"""Which routes to make and which to remove, and what nodes are told of it. Pure."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.controllers._shared import condition
from pybernetes.control_plane.cloud.provider import NodeAddress, Route

log = logging.getLogger(__name__)
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass
class RoutePlan:
    """What is to be done; the node's uid is a hint for the name of its routes."""

    remove: list[Route] = field(default_factory=list)
    create: list[tuple[str, Route]] = field(default_factory=list)


def addresses_of(node: Object) -> tuple[NodeAddress, ...]:
    """Return the addresses of a node."""
    entries = (node.get("status") or {}).get("addresses") or ()
    return tuple(NodeAddress(entry["type"], entry["address"]) for entry in entries)


def plan(nodes: Iterable[Object], routes: Sequence[Route], cluster_cidrs: Sequence[Network]) -> RoutePlan:
    """Return what to do so that each range of a node has a route to it, and no other range of the cluster has."""
    result = RoutePlan()
    kept: set[Route] = set()
    for node in nodes:
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        addresses = addresses_of(node)
        for cidr in (node.get("spec") or {}).get("podCIDRs") or ():
            fitting = [
                route
                for route in routes
                if route.target_node == name
                and route.destination == cidr
                and not route.blackhole
                and (route.addresses is None or set(route.addresses) == set(addresses))
            ]
            kept.update(fitting)
            if not fitting:
                result.create.append((uid, Route(cidr, name, addresses=addresses)))
    result.remove = [route for route in routes if route not in kept and is_ours(route, cluster_cidrs)]
    return result


def is_ours(route: Route, cluster_cidrs: Sequence[Network]) -> bool:
    """Return whether a route is about pods of the cluster; others are not touched."""
    try:
        network = ipaddress.ip_network(route.destination, strict=False)
    except ValueError:
        log.error("the route %s is left alone: %r is no range", route.name, route.destination)
        return False
    return any(network.version == cidr.version and network.overlaps(cidr) for cidr in cluster_cidrs)


def cluster_cidrs(text: str) -> list[Network]:
    """Return the ranges of ``--cluster-cidr``; ValueError as upstream has it."""
    try:
        cidrs = [ipaddress.ip_network(part.strip(), strict=False) for part in text.strip().split(",")]
    except ValueError:
        raise ValueError(f"invalid CIDR address: {text}") from None
    if len(cidrs) > 2:
        raise ValueError(f"length of clusterCIDRs is:{len(cidrs)} more than max allowed of 2")
    if len(cidrs) == 2 and cidrs[0].version == cidrs[1].version:
        raise ValueError(
            f"len of ClusterCIDRs=={len(cidrs)} and they are not configured as dual stack (at least one from each IPFamily"
        )
    return cidrs


def condition_change(node: Object, routed: bool) -> Object | None:
    """Return the condition that a node is to be told; None if it knows."""
    status, reason, message = (
        ("False", "RouteCreated", "RouteController created a route")
        if routed
        else ("True", "NoRouteCreated", "RouteController failed to create a route")
    )
    present = condition(node, "NetworkUnavailable")
    if present is not None and (present["status"], present.get("reason")) == (status, reason):
        return None
    return {"type": "NetworkUnavailable", "status": status, "reason": reason, "message": message}
