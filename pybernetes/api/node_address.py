"""Where the kubelet of a node answers, as the node's status has it."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.api.resource import Object

KUBELET_PORT = 10250
ADDRESS_TYPES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")


def preferred_address(node: Object, types: Sequence[str]) -> str:
    """Return the first address of the first type that the node has."""
    addresses = node.get("status", {}).get("addresses") or ()
    for wanted in types:
        for address in addresses:
            if address.get("type") == wanted and address.get("address"):
                return address["address"]
    return ""


def kubelet_port(node: Object) -> int:
    """Return the port of the kubelet; 0 if the node does not say."""
    endpoints = node.get("status", {}).get("daemonEndpoints") or {}
    return (endpoints.get("kubeletEndpoint") or {}).get("Port") or 0
