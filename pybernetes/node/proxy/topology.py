"""Which endpoints a traffic policy leaves for a node. Pure."""

from __future__ import annotations

from pybernetes.node.proxy.endpoint import Endpoint, Target
from pybernetes.node.proxy.node import Node


def cluster_targets(endpoints: list[Endpoint], node: Node) -> tuple[Target, ...]:
    """Return the targets of the policy Cluster: the ready ones that hints leave, or else those that still serve."""
    ready = [endpoint for endpoint in endpoints if endpoint.ready]
    if ready:
        if all(endpoint.nodes for endpoint in ready):
            same_node = [endpoint.target for endpoint in ready if node.name in endpoint.nodes]
            if same_node:
                return tuple(same_node)
        if all(endpoint.zones for endpoint in ready):
            same_zone = [endpoint.target for endpoint in ready if node.zone in endpoint.zones]
            if same_zone:
                return tuple(same_zone)
        return tuple([endpoint.target for endpoint in ready])
    return _still_serving(endpoints)


def local_targets(endpoints: list[Endpoint]) -> tuple[Target, ...]:
    """Return the targets of the policy Local: those on this node that are ready, or else those that still serve."""
    local = [endpoint for endpoint in endpoints if endpoint.target.local]
    ready = tuple([endpoint.target for endpoint in local if endpoint.ready])
    return ready or _still_serving(local)


def _still_serving(endpoints: list[Endpoint]) -> tuple[Target, ...]:
    return tuple([endpoint.target for endpoint in endpoints if endpoint.serving and endpoint.terminating])
