"""Services and questions for tests, and a zone that answers; messages are read without a DNS library."""

from __future__ import annotations

import ipaddress
import struct
from typing import Any

from pybernetes.node.dns import records, wire
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.lookup import Lookup
from pybernetes.node.dns.resolver import Resolver

TYPES = {name: number for number, name in wire.TYPES.items()}


def service(
    name: str, namespace: str = "default", ports: tuple[str, ...] = (), **spec: Any
) -> dict[str, Any]:
    """Return a Service."""
    listed = [{"name": port, "protocol": "TCP", "port": 80 + at} for at, port in enumerate(ports)]
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"ports": listed, **spec}}


def slice_of(*endpoints: tuple[str, str, bool], ports: tuple[tuple[str, int], ...] = ()) -> dict[str, Any]:
    """Return an EndpointSlice."""
    return {
        "addressType": "IPv4",
        "ports": [{"name": name, "protocol": "UDP", "port": number} for name, number in ports],
        "endpoints": [
            {"addresses": [address], "conditions": {"ready": ready}, **({"hostname": host} if host else {})}
            for address, host, ready in endpoints
        ],
    }


class Zone:
    """A table with a resolver in front of it."""

    def __init__(self, **options: Any) -> None:
        self.table = AnswerTable()
        self.table.set_namespace("default", True)
        self.resolver = Resolver(Lookup(self.table, **options))

    def add(self, obj: dict[str, Any], *slices: dict[str, Any]) -> None:
        key = f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
        self.table.set_service(key, records.of_service(obj, slices, self.table.zone))

    def ask(self, name: str, kind: str = "A", datagram: bool = True, size: int = 0) -> tuple[int, list[str]]:
        """Return the code of the answer, and its records as text."""
        response = self.resolver.respond(question(name, kind, size), datagram)
        assert isinstance(response, bytes)
        return response[3] & 15, texts(response)


def question(name: str, kind: str = "A", size: int = 0, identifier: int = 7) -> bytes:
    """Return a message with one question."""
    head = struct.pack(">HHHHHH", identifier, 0x0100, 1, 0, 0, 1 if size else 0)
    option = b"\0" + struct.pack(">HHIH", wire.OPT, size, 0, 0) if size else b""
    # Not wire.name: that makes lower case of it.
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".") if label)
    return head + labels + b"\0" + struct.pack(">HH", TYPES[kind], 1) + option


def texts(message: bytes) -> list[str]:
    """Return the answers of a message as texts."""
    end = wire.read_question(message)[2]
    answers = wire.read_records(message, end, int.from_bytes(message[6:8]))[0]
    return sorted(f"{wire.text(record.owner)} {data(record)}" for record in answers)


def data(record: wire.Record) -> str:
    """Return the data of a record as text."""
    if record.type in (wire.A, wire.AAAA):
        return str(ipaddress.ip_address(record.data))
    if record.type == wire.SRV:
        return " ".join(map(str, struct.unpack(">HHH", record.data[:6]))) + " " + wire.text(record.data[6:])
    if record.type == wire.TXT:
        return record.data[1:].decode()
    if record.type == wire.HINFO:
        return record.data[1 : 1 + record.data[0]].decode()
    return wire.text(record.data) if record.type != wire.SOA else "SOA"


NX, OK = wire.NXDOMAIN, wire.NOERROR
WEB = "web.default.svc.cluster.local."
SET = "set.default.svc.cluster.local."
