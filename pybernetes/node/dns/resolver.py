"""From a question to its answer: a lookup in memory for the cluster's own names; plugins are asked about others."""

from __future__ import annotations

import random
import struct
from collections.abc import Awaitable
from time import perf_counter

from pybernetes.node.dns import wire
from pybernetes.node.dns.answer_table import Answer
from pybernetes.node.dns.lookup import NOTHING, TRANSFERS, Lookup
from pybernetes.node.dns.metrics import Metrics
from pybernetes.node.dns.query import Dropped, Handler, Query

_OPTION = b"\0" + struct.pack(">HHIH", wire.OPT, wire.UDP_SIZE, 0, 0)
_BAD_VERSION = b"\0" + struct.pack(">HHIH", wire.OPT, wire.UDP_SIZE, 1 << 24, 0)
_NO_MORE, _ONE_MORE = b"\0\0", b"\0\1"
_QR, _AA, _TC, _RA = 0x80, 0x04, 0x02, 0x80
_LONGEST = wire.HEADER + 255  # where the longest name of a question ends
_ONE_QUESTION = b"\0\1\0\0\0\0"
# The flags of the cluster's own answers, without and with recursion desired, by their codes.
_FLAGS = tuple(
    [bytes([_QR | _AA | wanted, _RA | code]) for code in range(wire.REFUSED + 1)] for wanted in (0, 1)
)


class Resolver:
    """Answers questions."""

    def __init__(
        self, lookup: Lookup | None, handler: Handler | None = None, metrics: Metrics | None = None,
        udp_size: int = wire.UDP_SIZE,
    ) -> None:  # fmt: skip
        self.metrics = metrics or Metrics()
        self._types, self._codes = self.metrics.types, self.metrics.codes
        self._answers: dict[bytes, Answer] = {}
        self.use(lookup, handler, udp_size)

    def use(self, lookup: Lookup | None, handler: Handler | None, udp_size: int = wire.UDP_SIZE) -> None:
        """Answer by other means from now on: what may be looked up first, and who is asked about the rest."""
        self.lookup, self.handler, self._udp_size = lookup, handler, udp_size
        self._answers = lookup.answers if lookup is not None else {}

    def respond(
        self, data: bytes, datagram: bool, client: tuple[str, int] = ("", 0)
    ) -> bytes | Awaitable[bytes] | None:
        """Return the answer to a message, or something to wait for; None if it deserves none."""
        # The usual case first: one question, at most an EDNS option, a name that is in the table.
        end = data.find(b"\0", 12) + 1
        question_end = end + 4
        if (
            not end
            or end > _LONGEST
            or len(data) < question_end
            or data[2] & 0xF8
            or data[4:10] != _ONE_QUESTION
        ):
            return self._odd(data)
        kind = data[end:question_end]
        try:
            self._types[kind] += 1
        except KeyError:
            self.metrics.asked(kind)
        if len(data) == question_end:
            limit, more, option = 512, _NO_MORE, b""
        elif data[question_end : question_end + 3] == b"\0\0\x29" and len(data) >= question_end + 11:
            if data[question_end + 6]:
                return self._reply(data, question_end, NOTHING, wire.NOERROR, 512, _ONE_MORE, _BAD_VERSION)
            size = data[question_end + 3] << 8 | data[question_end + 4]
            limit, more, option = min(max(size, 512), self._udp_size), _ONE_MORE, _OPTION
        else:
            return self._error(data, wire.FORMERR)
        if not datagram:
            limit = 65535
        name = data[12:end].lower()
        answer = self._answers.get(name + kind)
        if answer is None:
            lookup = self.lookup
            negative = lookup.missing(name, kind) if lookup is not None else None
            if negative is not None:
                answer, code = negative
                return self._reply(data, question_end, answer, code, limit, more, option)
            return self._unknown(data, name, kind, question_end, limit, more, option, datagram, client)
        counts, body, stride = answer
        if stride:  # addresses take turns
            start = random.randrange(0, len(body), stride)
            body = body[start:] + body[:start]
        self._codes[0] += 1
        response = data[:2] + _FLAGS[data[2] & 1][0] + counts + more + data[12:question_end] + body + option
        if len(response) > limit:
            return self._truncated(data, question_end, answer, limit, more, option)
        return response

    def _unknown(
        self, data: bytes, name: bytes, kind: bytes, end: int, limit: int, more: bytes, option: bytes, datagram: bool,
        client: tuple[str, int],
    ) -> bytes | Awaitable[bytes]:  # fmt: skip
        """Answer what is not of the cluster, or wants to be seen by plugins first."""
        if self.handler is None or kind[:2] in TRANSFERS:
            return self._reply(data, end, NOTHING, wire.REFUSED, limit, more, option)
        size = limit if datagram else int.from_bytes(data[end + 3 : end + 5]) or 512
        dnssec = bool(option) and bool(data[end + 7] & 0x80)
        identifier = int.from_bytes(data[:2])
        query = Query(
            name + kind, client[:2], not datagram, size, identifier, len(data), dnssec, perf_counter()
        )
        return self._elsewhere(data, query, end, limit, more, option)

    # -- messages ----------------------------------------------------------------------------------------

    def _reply(
        self, data: bytes, end: int, answer: Answer, code: int, limit: int, more: bytes, option: bytes
    ) -> bytes:
        self._codes[code] += 1
        counts, body, _ = answer
        response = data[:2] + _FLAGS[data[2] & 1][code] + counts + more + data[12:end] + body + option
        return response if len(response) <= limit else self._truncated(data, end, answer, limit, more, option)

    def _truncated(
        self, data: bytes, end: int, answer: Answer, limit: int, more: bytes, option: bytes
    ) -> bytes:
        """Return as many answers as there is room for, and the bit that says that there are more."""
        self.metrics.truncated += 1
        room = limit - end - len(option)
        at, kept, body = 0, 0, answer.body
        for _ in range(int.from_bytes(answer.counts[2:4])):
            # Owners are pointers, so that a record's own length is at a fixed place.
            following = at + 12 + int.from_bytes(body[at + 10 : at + 12])
            if following > room or body[at] < 0xC0:
                break
            at, kept = following, kept + 1
        flags = bytes([_QR | _AA | _TC | data[2] & 1, _RA])
        counts = struct.pack(">HHH", 1, kept, 0)
        return data[:2] + flags + counts + more + data[12:end] + body[:at] + option

    def _error(self, data: bytes, code: int) -> bytes:
        self.metrics.codes[code] += 1
        return data[:2] + bytes([_QR | data[2] & 0x79, code]) + bytes(8)

    def _odd(self, data: bytes) -> bytes | None:
        """Answer a message that is not a question of the usual kind."""
        if len(data) < wire.HEADER or data[2] & _QR:
            return None  # an answer to an answer could go on forever
        return self._error(data, wire.NOTIMP if data[2] & 0x78 else wire.FORMERR)

    # -- asking others -----------------------------------------------------------------------------------

    async def _elsewhere(
        self, data: bytes, query: Query, end: int, limit: int, more: bytes, option: bytes
    ) -> bytes:
        assert self.handler is not None
        try:
            wire.labels(query.name)
        except wire.Malformed:
            return self._error(data, wire.FORMERR)
        try:
            message = await self.handler(query)
            if message[12:end].lower() != query.question:
                raise wire.Malformed("an answer to another question")
        except Dropped:
            return b""
        except (OSError, TimeoutError, wire.Malformed):
            self._codes[wire.SERVFAIL] += 1
            flags = bytes([_QR | data[2] & 1, _RA | wire.SERVFAIL])
            return data[:2] + flags + NOTHING.counts + more + data[12:end] + option
        code = message[3] & 15
        answer = Answer(message[4:10], message[end:])
        extra = int.from_bytes(message[10:12]) + int.from_bytes(more)
        self.metrics.codes[min(code, wire.REFUSED)] += 1
        flags = bytes([_QR | message[2] & (_AA | _TC) | data[2] & 1, _RA | code])
        response = data[:2] + flags + answer.counts + extra.to_bytes(2) + data[12:end] + answer.body + option
        if len(response) <= limit:
            return response
        self.metrics.truncated += 1
        return data[:2] + bytes([flags[0] | _TC, flags[1]]) + NOTHING.counts + more + data[12:end] + option
