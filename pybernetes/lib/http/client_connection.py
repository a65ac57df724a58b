"""One HTTP/1.1 connection to a server: a request at a time, parsed with httptools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import httptools

from pybernetes.lib.http import strictness
from pybernetes.lib.http.messages import Reply
from pybernetes.lib.http.paced_duplex import PacedDuplex

# All heads that a server sends for one request, interim ones included; and what it sends later that is no body.
_HEAD_LIMIT = 1 << 20
_MOST_HEADERS = 1000
_TOO_LARGE = "http: response body too large"
_WITHOUT_BODY = (204, 304)


class Disconnected(ConnectionError):
    """The connection ended before an answer was complete; ``begun`` says whether a part of it had come."""

    def __init__(self, text: str, begun: bool) -> None:
        super().__init__(text)
        self.begun = begun


class BadReply(ConnectionError):
    """What the server sent is not an answer, or more than there may be of it."""


class ClientConnection(PacedDuplex):
    """A connection. ``request`` waits for the whole answer, ``open`` for its head; then ``read`` gives the body.

    ``limit`` bounds bodies that are read as a whole. A ``lenient`` connection puts up with bare line feeds and the
    like, as Go's client does: for servers that somebody else wrote and whose answers nobody passes on as they are.
    """

    def __init__(self, *, limit: int | None = None, lenient: bool = False) -> None:
        super().__init__()
        self.idle_since = 0.0
        self.on_lost: Callable[[ClientConnection], None] | None = None
        self.upgraded = False
        self._limit, self._lenient = limit, lenient
        self._parser: httptools.HttpResponseParser | None = None
        self._reply = Reply()
        self._waiter: asyncio.Future[Reply] | None = None
        self._streaming = self._head_only = False
        self._complete = self._keep_alive = True
        # Bytes that came since the body last grew, whether it has just grown, and its size.
        self._waited_bytes, self._grown, self._body_size = 0, False, 0
        self._in_head = False

    @property
    def headers(self) -> dict[bytes, bytes]:
        """The headers of the last answer, their names in lower case."""
        return self._reply.headers

    @property
    def reusable(self) -> bool:
        """Whether another request can be sent."""
        return self._complete and self._keep_alive and not (self.lost or self.ending or self.upgraded)

    # -- sending -----------------------------------------------------------------------------------------

    async def request(self, data: bytes) -> Reply:
        """Send a request and return the answer with its body."""
        return await self._send(data, streaming=False)

    async def open(self, data: bytes) -> Reply:
        """Send a request and return the head of the answer; ``read`` gives the body as it comes."""
        return await self._send(data, streaming=True)

    async def _send(self, data: bytes, streaming: bool) -> Reply:
        if self.lost:
            raise Disconnected(str(self.error or "the connection is closed"), False)
        self._streaming, self._head_only = streaming, data.startswith(b"HEAD ")
        self._parser = httptools.HttpResponseParser(self)
        if self._lenient:
            self._parser.set_dangerous_leniencies(
                lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_data_after_close=True
            )
        self._reply = Reply()
        self._parts, self._loose = [], 0
        self._complete = self._keep_alive = False
        self._waited_bytes, self._grown, self._body_size = 0, False, 0
        self._in_head = True
        self._waiter = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        try:
            return await self._waiter
        except asyncio.CancelledError:
            self.abort()  # an answer that nobody waits for must not meet the next request
            raise

    @property
    def at_end(self) -> bool:
        """Whether the body is complete; Disconnected if it never will be."""
        if self.lost and not self._complete:
            raise Disconnected(str(self.error or "the connection was closed"), True)
        return (self._complete and not self.upgraded) or self.lost

    async def read_all(self) -> bytes:
        """Return the rest of the body."""
        parts, size = [], 0
        while data := await self.read():
            parts.append(data)
            size += len(data)
            if self._limit is not None and size > self._limit:
                self._break(_TOO_LARGE)
                raise Disconnected(_TOO_LARGE, True)
        return b"".join(parts)

    def close(self) -> None:
        """End the connection; what was written after an upgrade still goes out."""
        if self.transport is not None:
            if self.upgraded:
                self.transport.close()
            else:
                self.abort()

    # -- what comes -------------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        if self.upgraded:
            self._take(data)
            return
        if self._parser is None or self._complete:
            self.abort()  # nobody asked
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            rest = data[upgrade.args[0] :]
            if rest and self.upgraded:
                self._take(rest)
        except httptools.HttpParserError as error:
            if not self._complete:  # what follows an answer without a body is noise
                self._break(f"malformed HTTP response: {error}")
        self._waited_bytes = 0 if self._grown else self._waited_bytes + len(data)
        self._grown = False
        if self._waited_bytes > _HEAD_LIMIT and not self._complete and not self.upgraded:
            self._break("the headers of the answer are too large")

    def _break(self, text: str) -> None:
        """Give up on the answer."""
        self.error = self.error or BadReply(text)
        self.abort()

    def eof_received(self) -> None:
        return None

    def ended(self, error: Exception | None) -> None:
        if not self._complete and (self.upgraded or (error is None and self._ends_with_connection())):
            self._finish()
        waiter, self._waiter = self._waiter, None
        super().ended(error)
        if waiter is not None and not waiter.done():
            text = str(self.error or "the server closed the connection")
            waiter.set_exception(Disconnected(text, bool(self._reply.status)))
        # The parser holds this object and this object the parser: break the ring.
        self._parser = None
        if self.on_lost is not None:
            self.on_lost(self)

    def _ends_with_connection(self) -> bool:
        """Return whether the end of the connection is the end of the answer, which then has no length."""
        headers = self._reply.headers
        lengths = b"content-length" in headers or b"transfer-encoding" in headers
        return bool(self._reply.status) and not lengths and self.error is None

    # -- what the parser calls ---------------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # and not a trailer
            self._reply.header_list.append((name, value))
            if len(self._reply.header_list) > _MOST_HEADERS:
                self._break("there are too many headers in the answer")
                raise BadReply  # which ends the parser's work

    def on_headers_complete(self) -> None:
        parser, reply = self._parser, self._reply
        assert parser is not None
        status = parser.get_status_code()
        if status < 200 and status != 101:
            reply.header_list.clear()
            return
        self._in_head = False
        if b"transfer-encoding" in reply.headers and not self._lenient:
            problem = strictness.coding_problem(parser.get_http_version(), reply.headers)
            if problem:
                self._break(problem)
                return
        reply.status = status
        if status == 101:
            self.upgraded = True
        if self._streaming or self.upgraded:
            self._answer()
        if self._head_only or status in _WITHOUT_BODY:
            self._keep_alive = parser.should_keep_alive()
            self._finish()

    def on_body(self, data: bytes) -> None:
        if self._complete:
            return
        self._grown = True
        if self._streaming:
            self._take(data)
            return
        self._keep(data)
        self._body_size += len(data)
        if self._limit is not None and self._body_size > self._limit:
            self._break(_TOO_LARGE)

    def on_message_complete(self) -> None:
        if not self._reply.status or self.upgraded or self._complete or self._parser is None or self.error:
            return
        self._keep_alive = self._parser.should_keep_alive()
        self._finish()

    def _finish(self) -> None:
        """Take the answer for complete."""
        self._complete = True
        if not self._streaming:
            self._reply.body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            self._parts, self._loose = [], 0
            self._answer()
        self._wake()

    def _answer(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(self._reply)


def request_bytes(
    method: str, target: str, headers: Iterable[tuple[bytes, bytes]], body: bytes = b"", head: bytes = b""
) -> bytes:
    """Return a request; ``head`` are header lines that are ready. ValueError if a text would end its line."""
    parts = [f"{method} {target} HTTP/1.1\r\n".encode(), head]
    parts += [b"%b: %b\r\n" % header for header in headers]
    lines = len(parts) - 1 + head.count(b"\n")
    if body or method in ("POST", "PUT", "PATCH"):
        parts.append(b"Content-Length: %d\r\n" % len(body))
        lines += 1
    text = b"".join(parts)
    if text.count(b"\n") != lines or text.count(b"\r") != lines:
        raise ValueError("a header cannot hold the end of a line")
    return text + b"\r\n" + body
