"""From a question to its answer: a lookup in memory for the cluster's own names; others are forwarded."""

from __future__ import annotations

import ipaddress
import random
import struct
from collections.abc import Awaitable, Callable, Iterable

from pybernetes.node.dns import wire
from pybernetes.node.dns.answer_table import Answer, AnswerTable, encode
from pybernetes.node.dns.metrics import Metrics
from pybernetes.node.dns.records import address_data, pod_address, reverse

# Gives the answer of another server to a question: a whole message, whose identifier means nothing.
Forward = Callable[[bytes], Awaitable[bytes]]
_OPTION = b"\0" + struct.pack(">HHIH", wire.OPT, wire.UDP_SIZE, 0, 0)
_BAD_VERSION = b"\0" + struct.pack(">HHIH", wire.OPT, wire.UDP_SIZE, 1 << 24, 0)
_NO_MORE, _ONE_MORE = b"\0\0", b"\0\1"
_QR, _AA, _TC, _RA = 0x80, 0x04, 0x02, 0x80
_LONGEST = wire.HEADER + 255  # where the longest name of a question ends
_NOTHING = Answer(struct.pack(">HHH", 1, 0, 0), b"")


class Resolver:
    """Answers questions."""

    def __init__(
        self, table: AnswerTable, forward: Forward | None = None, metrics: Metrics | None = None,
        ranges: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self.table, self.forward = table, forward
        self.metrics = metrics or Metrics()
        self._answers = table.answers
        self._networks = [ipaddress.ip_network(text) for text in ranges]

    def respond(self, data: bytes, datagram: bool) -> bytes | Awaitable[bytes] | None:
        """Return the answer to a message, or something to wait for; None if it deserves none."""
        # The usual case first: one question, at most an EDNS option, a name that is in the table.
        end = data.find(b"\0", 12) + 1
        question_end = end + 4
        if (
            not end
            or end > _LONGEST
            or len(data) < question_end
            or data[2] & 0xF8
            or data[4:6] != b"\0\1"
            or data[6:10] != b"\0\0\0\0"
        ):
            return self._odd(data)
        kind = data[end:question_end]
        self.metrics.asked(kind)
        if len(data) == question_end:
            limit, more, option = 512, _NO_MORE, b""
        elif data[question_end : question_end + 3] == b"\0\0\x29" and len(data) >= question_end + 11:
            if data[question_end + 6]:
                return self._reply(data, question_end, _NOTHING, wire.NOERROR, 512, _ONE_MORE, _BAD_VERSION)
            size = data[question_end + 3] << 8 | data[question_end + 4]
            limit, more, option = min(max(size, 512), wire.UDP_SIZE), _ONE_MORE, _OPTION
        else:
            return self._error(data, wire.FORMERR)
        if not datagram:
            limit = 65535
        name = data[12:end].lower()
        answer = self._answers.get(name + kind)
        if answer is None:
            negative = self._missing(data, name, kind, question_end)
            if negative is None:
                return self._elsewhere(data, name, kind, question_end, limit, more, option)
            answer, code = negative
            return self._reply(data, question_end, answer, code, limit, more, option)
        counts, body, stride = answer
        if stride:  # addresses take turns
            start = random.randrange(0, len(body), stride)
            body = body[start:] + body[:start]
        self.metrics.codes[0] += 1
        flags = b"\x85\x80" if data[2] & 1 else b"\x84\x80"
        response = data[:2] + flags + counts + more + data[12:question_end] + body + option
        if len(response) > limit:
            return self._truncated(data, question_end, answer, limit, more, option)
        return response

    # -- messages ----------------------------------------------------------------------------------------

    def _reply(
        self, data: bytes, end: int, answer: Answer, code: int, limit: int, more: bytes, option: bytes,
        authoritative: int = _AA,
    ) -> bytes:  # fmt: skip
        self.metrics.codes[code] += 1
        flags = bytes([_QR | authoritative | data[2] & 1, _RA | code])
        response = data[:2] + flags + answer.counts + more + data[12:end] + answer.body + option
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

    # -- names that are not in the table -----------------------------------------------------------------

    def _missing(self, data: bytes, name: bytes, kind: bytes, end: int) -> tuple[Answer, int] | None:
        """Return what the cluster says about a name without such a record; None if others have to be asked."""
        table = self.table
        if name.endswith(table.zone):
            if name + b"\0\5\0\1" in self._answers and kind[:2] != b"\0\5":
                return None  # an alias: somebody has to be asked what it stands for
            if name in table.names:
                if kind == b"\0\xff\0\1":
                    return encode(wire.HINFO, [b"\x07RFC8482\0"], table.ttl), wire.NOERROR
                return table.negative, wire.NOERROR
            pod = self._pod(name, kind)
            return (pod, wire.NOERROR) if pod is not None else (table.negative, wire.NXDOMAIN)
        if kind[2:] != wire.IN:
            return _NOTHING, wire.REFUSED
        if self._networks and name.endswith(b"\x04arpa\0") and self._ours(name):
            return table.negative, wire.NOERROR if name in table.names else wire.NXDOMAIN
        return (_NOTHING, wire.REFUSED) if self.forward is None else None

    def _pod(self, name: bytes, kind: bytes) -> Answer | None:
        """Return the name of a pod's address, in a namespace that exists."""
        first = 1 + name[0]
        if name[first:].find(b"\x03pod" + self.table.zone) < 0:
            return None
        try:
            parts = wire.labels(name[: -len(self.table.zone)] + b"\0")
        except wire.Malformed:
            return None
        if len(parts) != 3 or bytes([len(parts[1])]) + parts[1] not in self.table.namespaces:
            return None
        address = pod_address(parts)
        if address is None:
            return None
        type_, packed = address_data(address)
        return (
            encode(type_, [packed], self.table.ttl)
            if kind == type_.to_bytes(2) + wire.IN
            else self.table.negative
        )

    def _ours(self, name: bytes) -> bool:
        """Return whether a reverse name is of an address of the cluster's."""
        try:
            parts = [label.decode() for label in wire.labels(name)[:-2]][::-1]
            if name.endswith(b"\x07in-addr\x04arpa\0"):
                address = ipaddress.ip_address(".".join(parts))
            else:
                digits = "".join(parts)
                address = ipaddress.ip_address(":".join(digits[at : at + 4] for at in range(0, 32, 4)))
            return any(address in network for network in self._networks) and reverse(str(address)) == name
        except ValueError:
            return False

    # -- asking others -----------------------------------------------------------------------------------

    async def _elsewhere(
        self, data: bytes, name: bytes, kind: bytes, end: int, limit: int, more: bytes, option: bytes
    ) -> bytes:
        alias = self._answers.get(name + b"\0\5\0\1") if name.endswith(self.table.zone) else None
        try:
            wire.labels(name)
            if alias is not None:
                answer, code = await self._follow(alias, kind)
                return self._reply(data, end, answer, code, limit, more, option)
            assert self.forward is not None
            message = await self.forward(name + kind)
        except wire.Malformed:
            return self._error(data, wire.FORMERR)
        except (OSError, TimeoutError):
            return self._reply(data, end, _NOTHING, wire.SERVFAIL, limit, more, option, 0)
        code = message[3] & 15
        answer = Answer(message[4:10], message[end:])
        extra = int.from_bytes(message[10:12]) + int.from_bytes(more)
        self.metrics.codes[min(code, wire.REFUSED)] += 1
        flags = bytes([_QR | message[2] & (_AA | _TC) | data[2] & 1, _RA | code])
        response = data[:2] + flags + answer.counts + extra.to_bytes(2) + data[12:end] + answer.body + option
        if len(response) <= limit:
            return response
        self.metrics.truncated += 1
        return data[:2] + bytes([flags[0] | _TC, flags[1]]) + _NOTHING.counts + more + data[12:end] + option

    async def _follow(self, alias: Answer, kind: bytes) -> tuple[Answer, int]:
        """Return an alias with the records of the name that it stands for."""
        target = alias.body[12:]
        known = self._answers.get(target + kind)
        records: list[wire.Record] = []
        code = wire.NOERROR
        if known is not None:
            message = bytes(4) + known.counts + b"\0\0" + target + kind + known.body
            records = wire.read_records(message, 12 + len(target) + 4, int.from_bytes(known.counts[2:4]))[0]
        elif self.forward is not None and not target.endswith(self.table.zone):
            try:
                message = await self.forward(target + kind)
                end = wire.read_question(message)[2]
                records = wire.read_records(message, end, int.from_bytes(message[6:8]))[0]
            except (OSError, TimeoutError, wire.Malformed):
                code = wire.SERVFAIL
        body = alias.body + b"".join(
            wire.record(record.owner, record.type, min(record.ttl, self.table.ttl), record.data)
            for record in records
        )
        return Answer(struct.pack(">HHH", 1, 1 + len(records), 0), body), code
