"""The node that kube-proxy works for, as far as its decisions depend on it. Pure."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api.resource import Object

ZONE_LABEL = "topology.kubernetes.io/zone"


class Node(NamedTuple):
    """What decisions need to know about the node that they are made for."""

    name: str
    zone: str = ""
    addresses: tuple[str, ...] = ()
    pod_ranges: tuple[str, ...] = ()


def node_of(name: str, node: Object | None) -> Node:
    """Return what matters of a Node object, which may not exist yet."""
    if node is None:
        return Node(name)
    spec, status = node.get("spec") or {}, node.get("status") or {}
    addresses = [
        address["address"]
        for kind in ("InternalIP", "ExternalIP")
        for address in status.get("addresses") or ()
        if address.get("type") == kind
    ]
    ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    zone = (node["metadata"].get("labels") or {}).get(ZONE_LABEL, "")
    return Node(name, zone, tuple(addresses), tuple(ranges))
