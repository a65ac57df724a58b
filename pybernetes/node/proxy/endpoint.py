"""The endpoints that EndpointSlices name, by port. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.api.validation.addresses import parse_sloppy
from pybernetes.node.proxy.node import Node

PROTOCOLS = {"TCP": "tcp", "UDP": "udp", "SCTP": "sctp"}
_FAMILIES = {"IPv4": 4, "IPv6": 6}
_NO_NAMES: frozenset[str] = frozenset()


class Target(NamedTuple):
    """An address that traffic is sent to."""

    ip: str
    port: int
    local: bool = False

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"


class Endpoint(NamedTuple):
    """An endpoint as EndpointSlices describe it."""

    target: Target
    ready: bool
    serving: bool
    terminating: bool
    zones: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()


# The address family, the name of the port and the protocol; then the address and the number of the port.
EndpointsByPort = dict[tuple[int, str, str], dict[tuple[str, int], Endpoint]]


def endpoints_by_port(slices: Iterable[Object], node: Node) -> EndpointsByPort:
    """Return the endpoints of a Service; one that several slices name counts once."""
    by_port: EndpointsByPort = {}
    for endpoint_slice in sorted(slices, key=lambda obj: obj["metadata"]["name"]):
        family = _FAMILIES.get(endpoint_slice.get("addressType", ""))
        ports = endpoint_slice.get("ports")
        if family is None or not ports:
            continue
        rows = [row for item in endpoint_slice.get("endpoints") or () if (row := _row(item, node, family))]
        for port in ports:
            protocol, number = PROTOCOLS.get(port.get("protocol", "TCP")), port.get("port")
            if protocol is None or not number:
                continue
            endpoints = by_port.setdefault((family, port.get("name") or "", protocol), {})
            for ip, local, *rest in rows:
                if local or (ip, number) not in endpoints:
                    endpoints[ip, number] = Endpoint(Target(ip, number, local), *rest)
    return {key: dict(sorted(endpoints.items())) for key, endpoints in by_port.items()}


def _row(item: Object, node: Node, family: int) -> tuple[Any, ...] | None:
    """Return the address of an endpoint, whether it is local, and the fields of ``Endpoint`` after the target."""
    address = parse_sloppy((item.get("addresses") or ("",))[0])
    if address is None or address.version != family:
        return None
    conditions = item.get("conditions") or {}
    hints = item.get("hints") or {}
    return (
        str(address),
        bool(node.name) and item.get("nodeName") == node.name,
        conditions.get("ready") is not False,
        conditions.get("serving") is not False,
        conditions.get("terminating") is True,
        _names(hints.get("forZones")),
        _names(hints.get("forNodes")),
    )


def _names(hints: list[Mapping[str, str]] | None) -> frozenset[str]:
    return frozenset(hint["name"] for hint in hints) if hints else _NO_NAMES
