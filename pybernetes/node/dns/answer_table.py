"""Records as answers that are ready to be sent: found by the bytes of the question, changed service by service."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.node.dns import wire
from pybernetes.node.dns.records import Records

VERSION = "1.1.0"


class Answer(NamedTuple):
    """What follows the identifier and the flags of a message: counts of records, then the records themselves."""

    counts: bytes  # questions, answers, authorities
    body: bytes
    stride: int = 0  # length of each record where all have the same, so that they can take turns


_COUNTS: dict[tuple[int, int], bytes] = {}


def _counts(answers: int, authorities: int = 0) -> bytes:
    key = (answers, authorities)
    return _COUNTS.setdefault(key, struct.pack(">HHH", 1, *key))


def encode(kind: int, data: Iterable[bytes], ttl: int) -> Answer:
    """Return an answer of records about the name of the question."""
    encoded = [wire.record(wire.QUESTION_NAME, kind, ttl, record_data) for record_data in data]
    same = len(encoded) > 1 and kind in (wire.A, wire.AAAA)
    return Answer(_counts(len(encoded)), b"".join(encoded), len(encoded[0]) if same else 0)


class AnswerTable:
    """All records of the cluster's zone and of the reverse names of its addresses.

    A table ``beside`` another one is for a zone of its own, in which only services have names; what is looked up is in both.
    """

    def __init__(
        self, zone: str = "cluster.local", ttl: int = 30, serial: int = 1, beside: AnswerTable | None = None
    ) -> None:
        self.zone, self.ttl = wire.name(zone), ttl
        self._home = self.zone if beside is None else beside.zone
        self._subdomains = (b"\x03svc", b"\x03pod") if beside is None else (b"\x03svc",)
        self.answers: dict[bytes, Answer] = {} if beside is None else beside.answers
        # How many records are at or below a name: one that is not here does not exist.
        self.names: dict[bytes, int] = {}
        self.namespaces: dict[bytes, int] = {}
        self._owned: dict[str, tuple[bytes, ...]] = {}  # services and the questions that they answer
        self._claims: dict[
            bytes, list[tuple[str, bytes]]
        ] = {}  # services and the names that they give to an address
        self.negative = self._negative(serial)
        self._apex(serial)

    def _soa(self, serial: int) -> bytes:
        master, mail = wire.name("ns.dns")[:-1] + self.zone, wire.name("hostmaster")[:-1] + self.zone
        return master + mail + struct.pack(">IIIII", serial & 0xFFFFFFFF, 7200, 1800, 86400, self.ttl)

    def _negative(self, serial: int) -> Answer:
        """Return the answer that there is nothing, and for how long that may be cached."""
        return Answer(_counts(0, 1), wire.record(self.zone, wire.SOA, self.ttl, self._soa(serial)))

    def _apex(self, serial: int) -> None:
        version = VERSION.encode()
        server = wire.name("kube-dns.kube-system.svc")[:-1] + self._home
        self._add(self.zone, wire.SOA, [self._soa(serial)])
        self._add(self.zone, wire.NS, [server])
        self._add(wire.name("dns-version")[:-1] + self.zone, wire.TXT, [bytes([len(version)]) + version])
        for subdomain in self._subdomains:
            self._count(subdomain + self.zone, 1)

    # -- what exists -------------------------------------------------------------------------------------

    def _count(self, owner: bytes, change: int) -> None:
        """Count a record at a name and at every name above it, up to the zone."""
        while True:
            left = self.names.get(owner, 0) + change
            if left:
                self.names[owner] = left
            else:
                self.names.pop(owner, None)
            if owner == self.zone or not owner[0]:
                return
            owner = owner[1 + owner[0] :]

    def _add(self, owner: bytes, kind: int, data: list[bytes]) -> None:
        key = owner + kind.to_bytes(2) + wire.IN
        if key not in self.answers:
            self._count(owner, 1)
        self.answers[key] = encode(kind, data, self.ttl)

    def _remove(self, owner: bytes, kind: int) -> None:
        if self.answers.pop(owner + kind.to_bytes(2) + wire.IN, None) is not None:
            self._count(owner, -1)

    # -- what changes ------------------------------------------------------------------------------------

    def set_namespace(self, name: str, exists: bool) -> None:
        """Note a namespace, whose name exists below ``svc`` and ``pod``."""
        label = bytes([len(name)]) + name.encode()
        if exists == (label in self.namespaces):
            return
        for subdomain in self._subdomains:
            self._count(label + subdomain + self.zone, 1 if exists else -1)
        if exists:
            self.namespaces[label] = 1
        else:
            del self.namespaces[label]

    def set_service(self, key: str, records: Records) -> None:
        """Replace the records of a service; none for a service that is gone."""
        before = self._owned.get(key, ())
        answers: dict[bytes, list[bytes]] = {}
        for owner, kinds in records.items():
            for kind, data in kinds.items():
                answers[owner + kind.to_bytes(2) + wire.IN] = data
        for question in before:
            if question not in answers:
                self._put(key, question, [])
        for question, data in answers.items():
            self._put(key, question, data)
        if answers:
            self._owned[key] = tuple(answers)
        else:
            self._owned.pop(key, None)

    def _put(self, key: str, question: bytes, data: list[bytes]) -> None:
        owner, kind = question[:-4], int.from_bytes(question[-4:-2])
        if kind == wire.PTR:  # several services may have something to say about an address
            claims = [claim for claim in self._claims.get(question, ()) if claim[0] != key]
            claims += [(key, record_data) for record_data in data]
            if claims:
                self._claims[question] = claims
            else:
                self._claims.pop(question, None)
            data = sorted({record_data for _, record_data in claims})
        if data:
            self._add(owner, kind, data)
        else:
            self._remove(owner, kind)
