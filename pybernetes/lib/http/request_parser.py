"""The reading half of a server's connection: bytes in, requests out. It writes nothing but an interim answer."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import httptools

from pybernetes.lib.http import strictness
from pybernetes.lib.http.chunks import Chunks
from pybernetes.lib.http.known_head import LONGEST, MOST, PLAIN, KnownBodyHead, KnownHead, known_head
from pybernetes.lib.http.messages import Request, split_target
from pybernetes.lib.http.unanswered import SMALL

if TYPE_CHECKING:
    from pybernetes.lib.http.server import Server

_HEAD_END = b"\r\n\r\n"
# Numbers, because to look for bytes in bytes makes Python raise and drop an error first.
_SLASH, _PERCENT, _HASH = 0x2F, 0x25, 0x23
# Of heads and chunks, no more than this is parsed before what came of it is counted.
_PART = 16 * 1024
# What may come before it is clear who takes the connection over.
_LEFTOVER = 64 * 1024


class RequestParser(asyncio.Protocol):
    """What a connection knows about the request that is coming in.

    It is a base class because every call between two objects would cost on the way of each request.
    """

    transport: asyncio.Transport

    def __init__(self, server: Server) -> None:
        self.server = server
        self._parser: httptools.HttpRequestParser = None  # type: ignore[assignment]
        self._last = 0.0
        self._receiving = self._in_head = False
        # All bytes of this request so far, those since its head last grew by a header, and how many headers it had then.
        self._wire = self._waited = self._fields = 0
        # How many headers repeat another one, how long the body says it is or the chunks that it comes in, and the last
        # bytes of an incomplete head or of such chunks.
        self._repeats = self._length = 0
        self._chunks: Chunks | None = None
        self._tail = b""
        self._keep_alive = True
        # A whole head while it is parsed, and what is known of the last such heads, without a body and with one.
        self._whole: bytes | None = None
        self._known: KnownHead | None = None
        self._known_body: KnownBodyHead | None = None
        # Whether no more is read for now, and what was read already by then.
        self._paused = False
        self._unparsed = b""
        # Who has the bytes after an upgrade, whether that is being decided, and what came meanwhile.
        self._upgraded: asyncio.Protocol | None = None
        self._upgrading = False
        self._leftover = bytearray()
        # Set once nothing more is read from the client: a refusal is due, at once or after what is under way, or the
        # connection is to become nothing else although the client wanted that; and how much came since then.
        self._closing: bool = False
        self._ignored: int | None = None

    def received(self, request: Request) -> None:
        """Take a request that is complete."""
        raise NotImplementedError

    def refuse(self, status: int, message: str) -> None:
        """Answer what cannot be read, and read no more."""
        raise NotImplementedError

    def hold(self) -> None:
        """Count what this connection holds of requests; for those who keep count."""

    def _begin(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._last = time.monotonic()

    def _let_go(self) -> None:
        # The parser holds this object and this object the parser: break the ring.
        self._parser = None  # type: ignore[assignment]
        self._unparsed, self._known, self._known_body = b"", None, None
        self._forget()

    def data_received(self, data: bytes) -> None:
        if self._upgraded is not None:
            self._upgraded.data_received(data)
        elif self._upgrading:  # the answer that takes the connection over is still being made
            self._keep(data)
        elif self._closing:
            self._ignore(len(data))
        elif self._unparsed:
            self._unparsed += data
        elif (
            (known := self._known) is not None
            and not self._receiving
            and data.endswith(known.end)
            and data.startswith(known.begin)
            and len(data) <= LONGEST
            and not (target := data[known.target : -known.rest]).translate(None, PLAIN)
        ):
            self._wire, self._target, self._tail = len(data), target, b""
            self._hand_over(known.method, known.headers.copy(), b"", None, True)
        elif (
            (known_body := self._known_body) is not None
            and not self._receiving
            and data.startswith(known_body.begin)
            and len(data) <= MOST
            and (parts := known_body.read(data)) is not None
        ):
            self._target, headers, body = parts
            self._wire, self._tail = len(data), b""
            self._hand_over(known_body.method, headers, body, None, True)
        elif (
            len(data) <= _PART
            and not self._receiving
            and data[:1] not in b"\r\n"
            and (end := data.find(_HEAD_END) + 4) > 3
        ):
            self._wire, self._tail = end, b""  # a whole head: what nearly all data begins with
            if end == len(data):
                self._whole = data
                self._feed(data)
            else:
                head = data[:end]
                self._feed(head)
                if self._length == len(data) - end and self._is_plain_body():
                    self._wire, self._whole = len(data), head
                    self._feed(data[end:])
                else:
                    self._parse(data, end)
            self._whole = None
        else:
            self._parse(data)

    def _is_plain_body(self) -> bool:
        """Return whether what follows the head is the body as it is, and nothing keeps it from being read."""
        return self._receiving and self._chunks is None and not self._closing and not self._paused

    def _parse(self, data: bytes, offset: int = 0) -> None:
        """Parse what may be a part of a request, or several: one part at a time, so that its place is known."""
        size, view = len(data), memoryview(data)
        while offset < size and not self._closing:
            if self._upgrading:
                self._keep(data[offset:])
                return
            if self._paused:
                self._unparsed = data[offset:]
                return
            end = self._part_end(data, offset)
            if self._closing:
                return
            self._wire += end - offset
            self._feed(view[offset:end])
            if self._receiving:
                self._count(end - offset)
                if self._in_head or self._chunks is not None:
                    self._tail = (self._tail + data[max(offset, end - 3) : end])[-3:]
            if self._wire > SMALL:
                self.hold()
            offset = end

    def _part_end(self, data: bytes, offset: int) -> int:
        """Return where the part that begins at an offset ends: a head or its piece, a body or its piece, some chunks.

        The last part of a request ends where the request ends.
        """
        if not self._receiving:
            if data[offset] in b"\r\n":  # llhttp would skip it
                self.refuse(400, "a line end where a request should begin")
            self._wire, self._tail = 0, b""
        elif not self._in_head:
            if self._chunks is None:
                return min(offset + max(self._length - len(self._body), 1), len(data))
            if not self._chunks.ended:
                return self._chunks.part_end(data, offset, min(offset + _PART, len(data)))
        most = min(offset + _PART, len(data))
        tail = self._tail
        across = (tail + data[offset : offset + 3]).find(_HEAD_END) if tail else -1
        if across >= 0:
            return offset + across + 4 - len(tail)
        end = data.find(_HEAD_END, offset, most)
        return most if end < 0 else end + 4

    def _feed(self, part: bytes | memoryview) -> None:
        try:
            self._parser.feed_data(part)
        except httptools.HttpParserUpgrade as upgrade:
            self._keep(bytes(part[upgrade.args[0] :]))
        except httptools.HttpParserError as error:
            self.refuse(400, str(error))

    def _keep(self, data: bytes) -> None:
        """Keep what comes before it is clear who takes the connection over; then no more is read."""
        if self._upgraded is not None:  # the answer was there at once
            if data:
                self._upgraded.data_received(data)
            return
        self._leftover += data
        if len(self._leftover) > _LEFTOVER and not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def _stay(self) -> None:
        """Go on as HTTP although the client wanted something else: what it sends from now on means nothing."""
        self._upgrading, self._closing, self._ignored = False, True, len(self._leftover)
        self._leftover.clear()
        if self._paused:  # or its end would not be noticed
            self._paused = False
            self.transport.resume_reading()

    def _ignore(self, size: int) -> None:
        """Drop the rest of what was refused, or what follows an upgrade that was not made; the latter has a bound."""
        if self._ignored is not None:
            self._ignored += size
            if self._ignored > self.server.limits.body:
                self.transport.abort()

    def _count(self, size: int) -> None:
        """Bound what is not body of a message that is not complete: headers, trailers, the extensions of chunks."""
        limits = self.server.limits
        fields = len(self._headers) + self._repeats
        if fields > limits.headers:
            self.refuse(431, "there are too many headers")
        elif self._wire - len(self._body) > limits.head:
            self.refuse(431, "the headers are too large")
        elif self._in_head:
            # The parser copies what it has of a value with each piece.
            self._waited = self._waited + size if fields == self._fields else 0
            self._fields = fields
            if self._waited > limits.value:
                self.refuse(431, "a header is too large")

    @property
    def target(self) -> bytes:
        """The target of the request that is read, as it came."""
        return self._target

    # -- what the parser calls ---------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._target = b""
        self._headers: dict[bytes, bytes] = {}
        self._repeated: dict[bytes, list[bytes]] | None = None
        self._head: tuple[dict[bytes, bytes], dict[bytes, list[bytes]] | None] | None = None
        self._repeats = self._waited = self._fields = 0
        self._length, self._chunks = 0, None
        self._body: bytes | bytearray = b""
        self._receiving = self._in_head = True
        self._last = time.monotonic()

    def _forget(self) -> None:
        """Keep nothing of the request that was coming in: nobody answers it, and it is counted no longer."""
        self._target, self._body = b"", b""
        self._headers, self._repeated, self._head = {}, None, None

    def on_url(self, url: bytes) -> None:
        self._target += url
        if len(self._target) > self.server.limits.target:
            self.refuse(414, "the request target is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in self._headers:
            self._repeat(name, value)
        else:
            self._headers[name] = value

    def _repeat(self, name: bytes, value: bytes) -> None:
        """Note one more value of a header."""
        self._repeats += 1
        if name == b"host":
            self.refuse(400, "too many Host headers")
        if self._repeated is None:
            self._repeated = {}
        self._repeated.setdefault(name, [self._headers[name]]).append(value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        headers, limits, parser = self._headers, self.server.limits, self._parser
        if self._repeated is not None:
            for name, values in self._repeated.items():
                # Credentials are never mixed: the first ones count.
                if name != b"authorization":
                    headers[name] = b", ".join(values)
        keep_alive = self._keep_alive = parser.should_keep_alive()
        if self._wire > limits.head:
            self.refuse(431, "the headers are too large")
        elif len(headers) + self._repeats > limits.headers:
            self.refuse(431, "there are too many headers")
        elif self._wire > limits.value and any(len(value) > limits.value for value in headers.values()):
            self.refuse(431, "a header is too large")
        # Nearly every request is of HTTP/1.1 and has nothing of this.
        elif (
            not keep_alive
            or b"host" not in headers
            or b"connection" in headers
            or b"transfer-encoding" in headers
            or self._target[0] != _SLASH
            or _PERCENT in self._target
            or _HASH in self._target
        ):
            self._check_head()
        length = headers.get(b"content-length")
        if length is not None and length.isdigit():
            self._length = int(length) if len(length) < 20 else limits.body + 1
            if self._length > limits.body:
                self.refuse(413, f"limit is {limits.body}")
        if b"expect" in headers and headers[b"expect"].lower() == b"100-continue" and not self._closing:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _check_head(self) -> None:
        method = self._parser.get_method()
        problem = strictness.request_problem(self._parser.get_http_version(), self._headers)
        problem = problem or strictness.target_problem(method, self._target)
        if problem:
            self.refuse(400, problem)
            return
        if self._target[0] != _SLASH:
            self._target, host = strictness.origin_form(self._target)
            if host:
                self._headers[b"host"] = host
        if b"transfer-encoding" in self._headers:
            # What follows the chunks could have any name and is no header.
            self._head = self._headers, self._repeated
            self._headers, self._repeated, self._chunks = {}, None, Chunks()

    def on_body(self, data: bytes) -> None:
        if self._closing:
            return
        if not self._body:
            self._body = data  # mostly there is no more
        else:
            if isinstance(self._body, bytes):
                self._body = bytearray(self._body)
            self._body += data
        limit = self.server.limits.body
        if len(self._body) > limit:
            self.refuse(413, f"limit is {limit}")

    def on_message_complete(self) -> None:
        if self._closing:
            return
        self._receiving = False
        if self._head is not None:
            self._headers, self._repeated = self._head
        body = self._body if isinstance(self._body, bytes) else bytes(self._body)
        self._body = b""
        self._upgrading = self._parser.should_upgrade()
        method = self._parser.get_method()
        if self._whole is not None and self._keep_alive and not self._upgrading and self._repeated is None:
            known = known_head(self._whole, method, self._target, self._headers, self.server.limits)
            if isinstance(known, KnownBodyHead):
                self._known_body = known
            elif known is not None:
                self._known = known
        # After an upgrade that is refused, what follows could be of either protocol.
        keep_alive = self._keep_alive and not self._upgrading
        self._hand_over(method.decode(), self._headers, body, self._repeated, keep_alive)

    def _hand_over(
        self,
        method: str,
        headers: dict[bytes, bytes],
        body: bytes,
        repeated: dict[bytes, list[bytes]] | None,
        keep_alive: bool,
    ) -> None:
        path, query = split_target(self._target)
        if query and query.count("&") >= self.server.limits.parameters:
            self.refuse(400, "number of URL query parameters exceeded limit")
            return
        request = self.server.request_class(self, method, path, query, headers, body)  # type: ignore[arg-type]
        request.repeated = repeated
        request.wire = self._wire
        request.keep_alive = keep_alive
        self.received(request)
