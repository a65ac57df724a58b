"""Which records a service has: DNS-based service discovery of Kubernetes, 1.1.0. Pure."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.node.dns.wire import AAAA, CNAME, PTR, SRV, A, name

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
    """Return one label in wire format."""
    encoded = text.lower().encode()
    return bytes([len(encoded)]) + encoded


def address_data(address: str) -> tuple[int, bytes]:
    """Return the type and the data of an address's record."""
    parsed = ipaddress.ip_address(address)
    return (A if parsed.version == 4 else AAAA), parsed.packed


def reverse(address: str) -> bytes:
    """Return the name under which an address is looked up."""
    return name(ipaddress.ip_address(address).reverse_pointer)


def endpoints(slices: Iterable[Object]) -> dict[Endpoint, set[tuple[str, str, int]]]:
    """Return the ready endpoints of a service with their named ports (name, protocol, number), in a stable order."""
    ports_by_endpoint: dict[Endpoint, set[tuple[str, str, int]]] = {}
    for endpoint_slice in slices:
        if endpoint_slice.get("addressType") == "FQDN":
            continue
        ports = {
            (port.get("name") or "", port.get("protocol") or "TCP", port["port"])
            for port in endpoint_slice.get("ports") or ()
            if port.get("port")
        }
        for endpoint in endpoint_slice.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is False:
                continue
            for address in endpoint.get("addresses") or ():
                key = Endpoint(address, endpoint.get("hostname") or "")
                ports_by_endpoint.setdefault(key, set()).update(ports)
    return dict(sorted(ports_by_endpoint.items()))


def of_service(service: Object, slices: Iterable[Object], zone: bytes) -> Records:
    """Return all records of a service, in the cluster's zone and of its addresses' reverse names."""
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
    own: bytes, ports_by_endpoint: dict[Endpoint, set[tuple[str, str, int]]]
) -> Iterator[tuple[bytes, int, bytes]]:
    share = max(1, 100 // len(ports_by_endpoint)) if ports_by_endpoint else 100
    for endpoint, ports in ports_by_endpoint.items():
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
    """Return the address that a pod's name stands for: 10-1-2-3 is 10.1.2.3, fd00--1 is fd00::1."""
    try:
        text = labels[0].decode()
        v4 = text.count("-") == 3 and text.replace("-", "").isdigit()
        return str(ipaddress.ip_address(text.replace("-", "." if v4 else ":")))
    except ValueError:
        return None
