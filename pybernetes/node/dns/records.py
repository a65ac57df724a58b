"""Which records a service has: DNS-based service discovery of Kubernetes, 1.1.0, and of multi-cluster services. Pure."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.api.validation.addresses import parse_sloppy
from pybernetes.node.dns.wire import AAAA, CNAME, PTR, SRV, A, name

# Names to types to data, all in wire format.
Records = dict[bytes, dict[int, list[bytes]]]


SOURCE_CLUSTER = "multicluster.kubernetes.io/source-cluster"
# A message has room for no more bytes of records: what is beyond them could be told to nobody.
_MOST_BYTES = 65535
_RECORD_BYTES = 12  # of a record in a message, beside its data
# Ports that get records, of all endpoints of a service together: a few words in a Service become that many.
MOST_PORTS = 4096


class Endpoint(NamedTuple):
    """A ready address behind a service."""

    address: str
    hostname: str  # empty if the endpoint has none of its own
    cluster: str = ""  # of the endpoints of a service of many clusters

    @property
    def labels(self) -> bytes:
        """What stands before the service's name in the endpoint's own."""
        first = label(self.hostname or self.address.replace(".", "-").replace(":", "-"))
        return first + label(self.cluster) if self.cluster else first


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
    """Return the ready endpoints of a service with their named ports (name, protocol, number), in a stable order.

    They come without ports if there are too many of those.
    """
    slices = [piece for piece in slices if piece.get("addressType") != "FQDN"]
    few = (
        sum(len(piece.get("endpoints") or ()) * len(piece.get("ports") or ()) for piece in slices)
        <= MOST_PORTS
    )
    ports_by_endpoint: dict[Endpoint, set[tuple[str, str, int]]] = {}
    for endpoint_slice in slices:
        cluster = ((endpoint_slice.get("metadata") or {}).get("labels") or {}).get(SOURCE_CLUSTER, "")
        ports = {
            (port.get("name") or "", port.get("protocol") or "TCP", port["port"])
            for port in (endpoint_slice.get("ports") if few else None) or ()
            if port.get("port")
        }
        for endpoint in endpoint_slice.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is False:
                continue
            for address in filter(None, map(parse_sloppy, endpoint.get("addresses") or ())):
                key = Endpoint(str(address), endpoint.get("hostname") or "", cluster)
                ports_by_endpoint.setdefault(key, set()).update(ports)
    return dict(sorted(ports_by_endpoint.items()))


class _Collected:
    """Records that are put together one by one."""

    def __init__(self) -> None:
        self.records: Records = {}
        self._known: set[tuple[bytes, int, bytes]] = set()
        self._bytes: dict[tuple[bytes, int], int] = {}

    def add(self, owner: bytes, kind: int, data: bytes) -> None:
        """Add a record, unless it is there or there is no room for more in a message."""
        if (owner, kind, data) in self._known:
            return
        size = self._bytes.get((owner, kind), 0) + _RECORD_BYTES + len(data)
        if size > _MOST_BYTES:
            return
        self._bytes[owner, kind] = size
        self._known.add((owner, kind, data))
        self.records.setdefault(owner, {}).setdefault(kind, []).append(data)

    def add_ports(self, own: bytes, ports: Iterable[Object]) -> None:
        """Add the ports of a service that has an address: under their names, and all together under the service's."""
        listed = list(ports)
        for port in listed[:MOST_PORTS]:
            self.add(own, SRV, _service(max(1, 100 // len(listed)), port["port"], own))
            if port.get("name"):
                owner = _port(port["name"], port.get("protocol") or "TCP", own)
                self.add(owner, SRV, _service(100, port["port"], own))

    def add_endpoints(self, own: bytes, slices: Iterable[Object]) -> None:
        """Add the endpoints of a service that has no address."""
        for owner, kind, data in _headless(own, endpoints(slices)):
            self.add(owner, kind, data)


def of_service(service: Object, slices: Iterable[Object], zone: bytes) -> Records:
    """Return all records of a service, in the cluster's zone and of its addresses' reverse names."""
    own, spec = _own(service, zone), service.get("spec") or {}
    result = _Collected()
    if spec.get("type") == "ExternalName":
        try:
            result.add(own, CNAME, name(spec.get("externalName") or ""))
        except (ValueError, UnicodeError):
            return {}
        return result.records
    addresses = spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else [])
    if addresses[:1] == ["None"]:
        result.add_endpoints(own, slices)
        return result.records
    for address in map(str, filter(None, map(parse_sloppy, addresses))):
        result.add(own, *address_data(address))
        result.add(reverse(address), PTR, own)
    if addresses:
        result.add_ports(own, spec.get("ports") or ())
    return result.records


def of_import(service_import: Object, slices: Iterable[Object], zone: bytes) -> Records:
    """Return all records of a service of many clusters, in the zone of their set. There are no reverse names for it."""
    own, spec = _own(service_import, zone), service_import.get("spec") or {}
    result = _Collected()
    if spec.get("type") == "Headless":
        result.add_endpoints(own, slices)
        return {owner: kinds for owner, kinds in result.records.items() if owner.endswith(zone)}
    for address in spec.get("ips") or ():
        try:
            result.add(own, *address_data(address))
        except ValueError:  # the definition lets any text pass
            continue
    if result.records:
        result.add_ports(own, spec.get("ports") or ())
    return result.records


def _own(obj: Object, zone: bytes) -> bytes:
    meta = obj["metadata"]
    return label(meta["name"]) + label(meta["namespace"]) + b"\x03svc" + zone


def _headless(
    own: bytes, ports_by_endpoint: dict[Endpoint, set[tuple[str, str, int]]]
) -> Iterator[tuple[bytes, int, bytes]]:
    share = max(1, 100 // len(ports_by_endpoint)) if ports_by_endpoint else 100
    for endpoint, ports in ports_by_endpoint.items():
        kind, data = address_data(endpoint.address)
        target = endpoint.labels + own
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
