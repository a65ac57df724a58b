"""The reading half of a server's connection: bytes in, requests out. It writes nothing but an interim answer."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import httptools

from pybernetes.lib.http import strictness
from pybernetes.lib.http.messages import Request, split_target

if TYPE_CHECKING:
    from pybernetes.lib.http.server import Server

# Clients wait for the answer that agrees to an upgrade, and have then more to say.
_LEFTOVER_LIMIT = 1 << 18


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
        # Bytes that came since the body last grew, its size then, and how many headers repeat another one.
        self._waited_bytes = self._body_before = self._repeats = 0
        self._keep_alive = True
        # Who has the bytes after an upgrade, whether that is being decided, and what came meanwhile.
        self._upgraded: asyncio.Protocol | None = None
        self._upgrading = False
        self._leftover = bytearray()
        # Set once nothing more is read from the client: a refusal is due, at once or after what is under way.
        self._closing: bool = False

    def received(self, request: Request) -> None:
        """Take a request that is complete."""
        raise NotImplementedError

    def refuse(self, status: int, message: str) -> None:
        """Answer what cannot be read, and read no more."""
        raise NotImplementedError

    def _begin(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._last = time.monotonic()

    def _stay(self) -> None:
        """Note that there is no upgrade; what follows could be of either protocol and is nobody's."""
        if self._upgrading:
            self._closing, self._leftover = True, bytearray()

    def _let_go(self) -> None:
        # The parser holds this object and this object the parser: break the ring.
        self._parser = None  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        if self._upgraded is not None:
            self._upgraded.data_received(data)
            return
        if self._closing:  # the rest of what was refused
            return
        if self._upgrading:  # the answer that takes the connection over is still being made
            self._leftover += data
            if len(self._leftover) > _LEFTOVER_LIMIT:
                self.transport.abort()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            rest = data[upgrade.args[0] :]
            if rest:
                self.data_received(rest)
        except httptools.HttpParserError as error:
            self.refuse(400, str(error))
        if self._receiving:
            self._count(len(data))

    def _count(self, size: int) -> None:
        """Bound what the parser keeps of a message that is not complete: a header, a trailer, a chunk's extension."""
        if len(self._body) != self._body_before:
            self._body_before, self._waited_bytes = len(self._body), 0
            return
        self._waited_bytes += size
        if self._waited_bytes > self.server.limits.head:
            self.refuse(431, "the headers are too large")

    # -- what the parser calls ---------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._target = b""
        self._headers: dict[bytes, bytes] = {}
        self._repeated: dict[bytes, list[bytes]] | None = None
        self._head: tuple[dict[bytes, bytes], dict[bytes, list[bytes]] | None] | None = None
        self._header_size = self._repeats = self._waited_bytes = self._body_before = 0
        self._body: bytes | bytearray = b""
        self._receiving = self._in_head = True
        self._last = time.monotonic()

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        self._header_size += len(name) + len(value)
        if name in self._headers:
            value = self._repeat(name, value)
        self._headers[name] = value

    def _repeat(self, name: bytes, value: bytes) -> bytes:
        """Note one more value of a header; return what the header is from now on."""
        self._repeats += 1
        if name == b"host":
            self.refuse(400, "too many Host headers")
        elif self._repeats > self.server.limits.headers:
            self.refuse(431, "there are too many headers")
        if self._closing:
            return value
        first = self._headers[name]
        if self._repeated is None:
            self._repeated = {}
        self._repeated.setdefault(name, [first]).append(value)
        # Credentials are never mixed: the first ones count.
        return first if name == b"authorization" else first + b", " + value

    def on_headers_complete(self) -> None:
        self._in_head = False
        headers, limits, parser = self._headers, self.server.limits, self._parser
        keep_alive = self._keep_alive = parser.should_keep_alive()
        if self._header_size + len(self._target) > limits.head:
            self.refuse(431, "the headers are too large")
        elif len(headers) + self._repeats > limits.headers:
            self.refuse(431, "there are too many headers")
        # Nearly every request is of HTTP/1.1 and has nothing of this.
        elif (
            not keep_alive
            or b"host" not in headers
            or b"connection" in headers
            or b"transfer-encoding" in headers
        ):
            self._check_head()
        length = headers.get(b"content-length")
        if length is not None and length.isdigit() and int(length) > limits.body:
            self.refuse(413, f"limit is {limits.body}")
        elif b"expect" in headers and headers[b"expect"].lower() == b"100-continue" and not self._closing:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _check_head(self) -> None:
        problem = strictness.request_problem(self._parser.get_http_version(), self._headers)
        if problem:
            self.refuse(400, problem)
        elif b"transfer-encoding" in self._headers:
            # What follows the chunks could have any name and is no header.
            self._head = self._headers, self._repeated
            self._headers, self._repeated = {}, None

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
        path, query = split_target(self._target)
        body = self._body if isinstance(self._body, bytes) else bytes(self._body)
        method = self._parser.get_method().decode()
        request = self.server.request_class(self, method, path, query, self._headers, body)  # type: ignore[arg-type]
        request.repeated = self._repeated
        self._body = b""
        self._upgrading = self._parser.should_upgrade()
        # After an upgrade that is refused, what follows could be of either protocol.
        request.keep_alive = self._keep_alive and not self._upgrading
        self.received(request)
