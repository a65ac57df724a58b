"""Which records a service has: DNS-based service discovery of Kubernetes, 1.1.0. Decisions only."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pybernetes.node.dns.wire import AAAA, CNAME, PTR, SRV, A, name

Object = dict[str, Any]
# Names to types to data, all in wire format.
Records = dict[bytes, dict[int, list[bytes]]]


class Endpoint(NamedTuple):
    """A ready address behind a service."""

    address: str
    hostname: str  # empty if the endpoint has none of its own

    @property
    def label(self) -> str:
        """The first label of the endpoint's name."""
        return self.hostname or self.address.replace(".", "-").replace(":", "-")


def label(text: str) -> bytes:
    """One label in wire format."""
    encoded = text.lower().encode()
    return bytes([len(encoded)]) + encoded


def address_data(address: str) -> tuple[int, bytes]:
    """The type and the data of an address's record."""
    found = ipaddress.ip_address(address)
    return (A if found.version == 4 else AAAA), found.packed


def reverse(address: str) -> bytes:
    """The name under which an address is looked up."""
    return name(ipaddress.ip_address(address).reverse_pointer)


def endpoints(slices: Iterable[Object]) -> dict[Endpoint, set[tuple[str, str, int]]]:
    """The ready endpoints of a service with their named ports (name, protocol, number), in a steady order."""
    found: dict[Endpoint, set[tuple[str, str, int]]] = {}
    for each in slices:
        if each.get("addressType") == "FQDN":
            continue
        ports = {
            (port.get("name") or "", port.get("protocol") or "TCP", port["port"])
            for port in each.get("ports") or ()
            if port.get("port")
        }
        for endpoint in each.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is False:
                continue
            for address in endpoint.get("addresses") or ():
                key = Endpoint(address, endpoint.get("hostname") or "")
                found.setdefault(key, set()).update(ports)
    return dict(sorted(found.items()))


def of_service(service: Object, slices: Iterable[Object], zone: bytes) -> Records:
    """All records of a service, in the cluster's zone and of its addresses' reverse names."""
    meta, spec = service["metadata"], service.get("spec") or {}
    own = label(meta["name"]) + label(meta["namespace"]) + b"\x03svc" + zone
    result: Records = {}

    def add(owner: bytes, kind: int, data: bytes) -> None:
        listed = result.setdefault(owner, {}).setdefault(kind, [])
        if data not in listed:
            listed.append(data)

    if spec.get("type") == "ExternalName":
        try:
            add(own, CNAME, name(spec.get("externalName") or ""))
        except (ValueError, UnicodeError):
            return {}
        return result
    addresses = spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else [])
    if addresses[:1] == ["None"]:
        for owner, kind, data in _headless(own, endpoints(slices)):
            add(owner, kind, data)
        return result
    for address in filter(None, addresses):
        add(own, *address_data(address))
        add(reverse(address), PTR, own)
    for port in spec.get("ports") or ():
        if addresses and port.get("name"):
            add(
                _port(port["name"], port.get("protocol") or "TCP", own), SRV, _service(100, port["port"], own)
            )
    return result


def _headless(
    own: bytes, found: dict[Endpoint, set[tuple[str, str, int]]]
) -> Iterator[tuple[bytes, int, bytes]]:
    share = max(1, 100 // len(found)) if found else 100
    for endpoint, ports in found.items():
        kind, data = address_data(endpoint.address)
        target = label(endpoint.label) + own
        yield own, kind, data
        yield target, kind, data
        if endpoint.hostname:
            yield reverse(endpoint.address), PTR, target
        for port, protocol, number in sorted(ports):
            yield own, SRV, _service(share, number, target)
            if port:
                yield _port(port, protocol, own), SRV, _service(share, number, target)


def _port(port: str, protocol: str, own: bytes) -> bytes:
    return label("_" + port) + label("_" + protocol) + own


def _service(weight: int, port: int, target: bytes) -> bytes:
    return struct.pack(">HHH", 0, weight, port) + target


def pod_address(labels: list[bytes]) -> str | None:
    """The address that a pod's name stands for: 10-1-2-3 is 10.1.2.3, fd00--1 is fd00::1."""
    try:
        text = labels[0].decode()
        v4 = text.count("-") == 3 and text.replace("-", "").isdigit()
        return str(ipaddress.ip_address(text.replace("-", "." if v4 else ":")))
    except ValueError:
        return None
