"""DNS questions and answers of other servers: an answer to each question that deserves one, never larger than allowed."""

from __future__ import annotations

import contextlib
import inspect
import struct

from fuzz.engine.target import Target
from pybernetes.node.dns import chain, wire
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.lookup import Lookup
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Environment
from pybernetes.node.dns.query import Query
from pybernetes.node.dns.resolver import Resolver

_RESOLVER = Resolver(Lookup(AnswerTable(), ("10.96.0.0/16", "fd00::/16")))


async def _none(query: Query) -> bytes:
    raise TimeoutError


_FORWARDING = Resolver(Lookup(AnswerTable(), ("10.96.0.0/16",)), _none)


# Plugins that look into questions and answers, one after the other.
_COREFILE = """. {
    log . "{name} {type} {remote} {>rflags}"
    acl {
        drop type MX
        block type TXT net 192.0.2.0/24
    }
    rewrite continue name suffix .shop. .default.svc.cluster.local. answer auto
    rewrite name regex (.*)-(x)[.]y {1}.{2}.cluster.local answer value (.*) {1}.z.
    hosts /nowhere {
        192.0.2.1 one.example *.wild.example
        fallthrough
    }
    minimal
    loadbalance
    whoami
}
"""
_PLUGINS = Resolver(
    None, chain.build(_COREFILE, Environment(files=frozenset({"/nowhere"}))).listening[0].handler
)


def run(data: bytes) -> None:
    """Answer it as a question, and read it as an answer."""
    for datagram in (True, False):
        for resolver in (_RESOLVER, _FORWARDING, _PLUGINS):
            response = resolver.respond(data, datagram, ("192.0.2.7", 53))
            if inspect.iscoroutine(response):
                try:
                    response.send(None)
                except StopIteration as end:
                    response = end.value
            if not response:
                continue
            assert isinstance(response, bytes) and response[:2] == data[:2] and response[2] & 0x80
            assert len(response) <= (wire.UDP_SIZE if datagram else 65535), len(response)
    with contextlib.suppress(wire.Malformed):
        message = Message.read(data)
        again = Message.read(message.encode())
        for left, right in zip(message.answers, again.answers, strict=True):
            assert (left.owner.lower(), *left[1:]) == (right.owner.lower(), *right[1:])
        assert (again.question, again.code) == (message.question, message.code)
    try:
        _, _, at = wire.read_question(data)
        wire.read_records(data, at, int.from_bytes(data[6:8]))
        name, _ = wire.read_name(data, 12)
        wire.labels(name)
        wire.text(name)
    except wire.Malformed:
        pass


def _question(name: str, kind: int, more: bytes = b"") -> bytes:
    return (
        struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 1 if more else 0)
        + wire.name(name)
        + struct.pack(">HH", kind, 1)
        + more
    )


_OPTION = b"\0" + struct.pack(">HHIH", wire.OPT, 1232, 0, 0)
_ANSWER = (
    struct.pack(">HHHHHH", 7, 0x8180, 1, 1, 0, 0)
    + wire.name("a.example.com") + struct.pack(">HH", 1, 1) + b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 30, 4) + b"\x0a\0\0\1"
)  # fmt: skip
TARGET = Target(
    run,
    seeds=(
        _question("kubernetes.default.svc.cluster.local", 1),
        _question("10-1-2-3.default.pod.cluster.local", 28, _OPTION),
        _question("1.0.96.10.in-addr.arpa", 12, _OPTION),
        _question("example.com", 255),
        _question("web.shop", 1, _OPTION),
        _question("a.wild.example", 28),
        _ANSWER,
        _ANSWER.replace(b"\xc0\x0c", b"\x03www\xc0\x0e"),
    ),
    words=(b"\xc0\x0c", b"\xc0\x00", b"\xc0\xff", b"\x3f", b"\x40", b"\0", b"\x03pod", b"\x07cluster\x05local\0", b"\x04arpa\0", b"\0\x29", b"\xff\xff"),
    largest=65535,
    per_byte=20e-6,
)  # fmt: skip
