"""DNS messages as bytes (RFC 1035, 6891): names, records, and reading what others sent."""

from __future__ import annotations

import struct
from typing import NamedTuple

A, NS, CNAME, SOA, PTR, HINFO, MX, TXT, AAAA, SRV, OPT = 1, 2, 5, 6, 12, 13, 15, 16, 28, 33, 41
IXFR, AXFR, ANY = 251, 252, 255
TYPES = {A: "A", NS: "NS", CNAME: "CNAME", SOA: "SOA", PTR: "PTR", MX: "MX", TXT: "TXT", AAAA: "AAAA",
         SRV: "SRV", ANY: "ANY", HINFO: "HINFO", 35: "NAPTR", 43: "DS", 46: "RRSIG", 47: "NSEC", 48: "DNSKEY",
         50: "NSEC3", 64: "SVCB", 65: "HTTPS", IXFR: "IXFR", AXFR: "AXFR", 257: "CAA"}  # fmt: skip
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = range(6)
CLASSES = {1: "IN", 3: "CH", 4: "HS", 255: "ANY"}
RCODES = ("NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED")
IN = b"\0\1"
# The name of the question, which nearly every record is about.
QUESTION_NAME = b"\xc0\x0c"
HEADER = 12
# What we are ready to take and to send over UDP without risking fragments.
UDP_SIZE = 1232


_MOST_JUMPS = 20  # of one name: nobody who compresses honestly needs as many


class Malformed(ValueError):
    """Not a DNS message."""


class Record(NamedTuple):
    """A record as it was read, with its names written out."""

    owner: bytes
    type: int
    klass: int
    ttl: int
    data: bytes


def name(text: str) -> bytes:
    """Return a name in wire format: lower case labels with their lengths in front."""
    result = bytearray()
    for label in text.rstrip(".").lower().split(".") if text.rstrip(".") else ():
        encoded = label.encode("idna") if not label.isascii() else label.encode()
        if not 0 < len(encoded) < 64:
            raise ValueError(f"{text!r} is no name: {label!r} is no label")
        result += bytes([len(encoded)]) + encoded
    if len(result) > 254:
        raise ValueError(f"{text!r} is too long for a name")
    return bytes(result) + b"\0"


def type_text(kind: int) -> str:
    """Return the name of a type for people."""
    return TYPES.get(kind) or f"TYPE{kind}"


def within(owner: bytes, zone: bytes) -> bool:
    """Return whether a name is a zone's own or below it; both are in lower case."""
    at = 0
    while len(owner) - at > len(zone):
        at += 1 + owner[at]
    return owner[at:] == zone


def text(wire: bytes) -> str:
    """Return a name for people."""
    return ".".join(label.decode(errors="replace") for label in labels(wire)) + "."


def labels(wire: bytes) -> list[bytes]:
    """Return the labels of a name without pointers; Malformed if it has any."""
    result, at = [], 0
    while at < len(wire) and (length := wire[at]):
        if length > 63:
            raise Malformed("a pointer in a name")
        result.append(wire[at + 1 : at + 1 + length])
        at += 1 + length
    if at != len(wire) - 1:
        raise Malformed("a name that does not end")
    return result


def record(owner: bytes, kind: int, ttl: int, data: bytes) -> bytes:
    """Return a record of class IN."""
    return owner + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


def read_name(message: bytes, at: int, known: dict[int, bytes] | None = None) -> tuple[bytes, int]:
    """Return the name at an offset with its pointers followed, and where it ends.

    ``known`` are the names by the offsets where they begin, as far as they were read: a name that thousands of pointers
    lead to is read once.
    """
    result, end, jumps = bytearray(), 0, 0
    known = {} if known is None else known
    passed: list[tuple[int, int]] = []  # offsets of labels, and how much of the name comes before each
    is_whole = False
    while not is_whole:
        if at >= len(message):
            raise Malformed("a name beyond the end")
        length = message[at]
        if length >= 0xC0:
            if at + 2 > len(message) or (jumps := jumps + 1) > _MOST_JUMPS:
                raise Malformed("pointers without end")
            end = end or at + 2
            at = (length & 0x3F) << 8 | message[at + 1]
            rest = known.get(at, b"")
            is_whole = bool(rest)
        elif length > 63:
            raise Malformed("a label that is too long")
        else:
            passed.append((at, len(result)))
            rest = message[at : at + 1 + length]
            at += 1 + length
            is_whole = not length
        if len(result) + len(rest) > 255:
            raise Malformed("a name that is too long")
        result += rest
    name = bytes(result)
    for offset, before in passed:
        known[offset] = name[before:]
    return name, end or at


_NAMES_AT = {NS: 0, CNAME: 0, PTR: 0, MX: 2, SRV: 6}


def read_records(message: bytes, at: int, count: int) -> tuple[list[Record], list[int], int]:
    """Return the records at an offset, the offsets of their TTLs, and where they end."""
    records, ttl_offsets, known = [], [], dict[int, bytes]()
    for _ in range(count):
        owner, at = read_name(message, at, known)
        if at + 10 > len(message):
            raise Malformed("a record beyond the end")
        kind, klass, ttl, length = struct.unpack_from(">HHIH", message, at)
        ttl_offsets.append(at + 4)
        at += 10
        if at + length > len(message):
            raise Malformed("data beyond the end")
        data = message[at : at + length]
        if kind in _NAMES_AT and length > _NAMES_AT[kind]:
            front = _NAMES_AT[kind]
            data = data[:front] + read_name(message, at + front, known)[0]
        elif kind == SOA:
            first, middle = read_name(message, at, known)
            second, end = read_name(message, middle, known)
            data = first + second + message[end : at + length]
        records.append(Record(owner, kind, klass, ttl, data))
        at += length
    return records, ttl_offsets, at


def read_question(message: bytes) -> tuple[bytes, int, int]:
    """Return the name (as it was sent), the type and the end of the one question of a message."""
    if len(message) < HEADER + 5 or message[4:6] != b"\0\1":
        raise Malformed("not one question")
    end = message.find(b"\0", HEADER) + 1
    if not end or end + 4 > len(message):
        raise Malformed("a question beyond the end")
    labels(message[HEADER:end])
    return message[HEADER:end], int.from_bytes(message[end : end + 2]), end + 4


def query(identifier: int, question: bytes, *, size: int = UDP_SIZE) -> bytes:
    """Return a question to another server."""
    option = b"\0" + struct.pack(">HHIH", OPT, size, 0, 0)
    return struct.pack(">HHHHHH", identifier, 0x0100, 1, 0, 0, 1) + question + option
