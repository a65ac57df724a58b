"""A DNS message taken apart, for those plugins that look into answers or make their own."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from pybernetes.node.dns import wire
from pybernetes.node.dns.wire import Record

QR, AA, TC, RD, RA = 0x80, 0x04, 0x02, 0x01, 0x80


@dataclass(slots=True)
class Message:
    """An answer: its question, code, flags and records."""

    question: bytes
    code: int = wire.NOERROR
    answers: list[Record] = field(default_factory=list)
    authorities: list[Record] = field(default_factory=list)
    extras: list[Record] = field(default_factory=list)
    authoritative: bool = False
    truncated: bool = False

    @property
    def name(self) -> bytes:
        """The name of the question."""
        return self.question[:-4]

    @classmethod
    def read(cls, data: bytes) -> Message:
        """Return a message from its bytes; Malformed if it is none."""
        end = wire.read_question(data)[2]
        counts = struct.unpack_from(">HHH", data, 6)
        sections, at = [], end
        for count in counts:
            records, _, at = wire.read_records(data, at, count)
            sections.append(records)
        answers, authorities, extras = sections
        extras = [record for record in extras if record.type != wire.OPT]
        question = data[wire.HEADER : end - 4].lower() + data[end - 4 : end]
        return cls(
            question, data[3] & 15, answers, authorities, extras, bool(data[2] & AA), bool(data[2] & TC)
        )

    def encode(self) -> bytes:
        """Return the bytes of the message."""
        flags = bytes([QR | AA * self.authoritative | TC * self.truncated | RD, RA | self.code & 15])
        counts = struct.pack(">HHHH", 1, len(self.answers), len(self.authorities), len(self.extras))
        name = self.name
        records = b"".join(
            (wire.QUESTION_NAME if record.owner.lower() == name else record.owner)
            + struct.pack(">HHIH", record.type, record.klass, record.ttl, len(record.data))
            + record.data
            for section in (self.answers, self.authorities, self.extras)
            for record in section
        )
        return b"\0\0" + flags + counts + self.question + records
