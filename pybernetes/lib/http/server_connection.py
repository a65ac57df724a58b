"""One client connection: parses requests with httptools, hands them to the application, writes answers.

An application is a callable that gets a request and gives a response, a stream, an upgrade, or an
awaitable of one of them. The common read takes no task at all: bytes in, a function call, bytes out.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import httptools

from pybernetes.lib.http import compression, strictness
from pybernetes.lib.http.messages import NOT_CACHED, STATUS_LINES, Request, Response, split_target
from pybernetes.lib.http.stream import Stream
from pybernetes.lib.http.upgrade import Upgrade

if TYPE_CHECKING:
    from pybernetes.lib.http.server import Server

log = logging.getLogger(__name__)
Answer = Response | Stream | Upgrade
Application = Callable[[Any], "Answer | Awaitable[Answer]"]


class Connection(asyncio.Protocol):
    """The protocol of one connection."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self._parser: httptools.HttpRequestParser = None  # type: ignore[assignment]
        self._queue: deque[Request] = deque()
        self._busy: Request | None = None
        self._stream: Stream | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._receiving = self._in_head = False
        # Bytes that came since the body last grew, its size then, and how many headers repeat another one.
        self._waited_bytes = self._body_before = self._repeats = 0
        self._keep_alive = True
        self._upgraded: asyncio.Protocol | None = None
        self._upgrading = False
        self._leftover = b""
        # Set once nothing more is read from the client: a refusal is due, at once or after what is under way.
        self._closing = False
        self._refusal: tuple[int, str] | None = None
        # Whether answers wait for the client to take them, and whether no more is read meanwhile.
        self._clogged = self._paused = False

    # -- the transport ---------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self._parser = httptools.HttpRequestParser(self)
        self.server.connections.add(self)
        self._last = time.monotonic()
        self._timer = self.server.loop.call_later(self.server.limits.head_seconds, self._check_idle)

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._stream is not None:
            self._stream.lost()
        if self._task is not None:
            self._task.cancel()
        if self._upgraded is not None:
            self._upgraded.connection_lost(error)
            if self._busy is not None:
                self._busy.connection_ended()
        # The parser holds this object and this object the parser: break the ring.
        self._parser = None  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        if self._upgraded is not None:
            self._upgraded.data_received(data)
            return
        if self._upgrading:  # the answer that takes the connection over is still being made
            self._leftover += data
            return
        if self._closing:  # the rest of what was refused
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._leftover = data[upgrade.args[0] :]
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

    def eof_received(self) -> bool | None:
        if self._upgraded is not None:
            return self._upgraded.eof_received()
        return None

    def pause_writing(self) -> None:
        if self._upgraded is not None:
            self._upgraded.pause_writing()
        elif self._stream is not None:
            self._stream.pause()
        else:
            self._clogged = True
            self._regulate()

    def resume_writing(self) -> None:
        if self._upgraded is not None:
            self._upgraded.resume_writing()
        elif self._stream is not None and not self._clogged:
            self._stream.resume()
        elif self._clogged:
            self._clogged = False
            self._regulate()
            if self._busy is None:
                self._next()

    def _regulate(self) -> None:
        """Read no more requests of a client that does not take the answers, or has sent too many already."""
        pause = self._clogged or len(self._queue) > self.server.limits.pipeline
        if pause != self._paused and not self.transport.is_closing():
            self._paused = pause
            (self.transport.pause_reading if pause else self.transport.resume_reading)()

    @property
    def backlog(self) -> int:
        """How far a stream may be behind."""
        return self.server.limits.backlog

    def flush_later(self, stream: Stream) -> None:
        """Flush a stream when its turn comes."""
        self.server.flusher.add(stream)

    def drain(self) -> None:
        """End the stream that is open, or the connection if it is idle."""
        if self._stream is not None:
            self._stream.end()
        elif self._busy is None:
            self.transport.close()

    def abort(self) -> None:
        """Drop the client at once."""
        self.transport.abort()

    @property
    def is_busy(self) -> bool:
        """Whether an answer is under way that has an end (what was upgraded has none)."""
        return self._busy is not None and self._upgraded is None

    @property
    def tls(self) -> ssl.SSLObject | None:
        """The TLS session, for the client's certificate."""
        return self.transport.get_extra_info("ssl_object")

    # -- the parser --------------------------------------------------------------------------------------

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
        request = self.server.request_class(self, method, path, query, self._headers, body)
        request.repeated = self._repeated
        self._body = b""
        self._upgrading = self._parser.should_upgrade()
        # After an upgrade that is refused, what follows could be of either protocol.
        request.keep_alive = self._keep_alive and not self._upgrading
        if self._busy is None and not self._clogged:
            self._handle(request)
        else:
            self._queue.append(request)
            self._regulate()

    # -- requests and answers ----------------------------------------------------------------------------

    def _handle(self, request: Request) -> None:
        if self.transport.is_closing():
            return
        self._busy = request
        self._last = request.started = time.monotonic()
        try:
            answer = self.server.application(request)
        except Exception as error:
            self._fail(request, error)
            return
        if type(answer) is Response:
            self._respond(request, answer)
        elif isinstance(answer, (Response, Stream, Upgrade)):
            self._answer(request, answer)
        else:
            self._task = self.server.loop.create_task(self._await(request, answer))

    async def _await(self, request: Request, awaitable: Awaitable[Answer]) -> None:
        try:
            answer = await awaitable
        except Exception as error:
            self._task = None
            self._fail(request, error)
            return
        self._task = None
        self._answer(request, answer)

    def _fail(self, request: Request, error: Exception) -> None:
        """Answer for an application that could not."""
        log.error("%s %s", request.method, request.path, exc_info=error)
        self._answer(request, self.server.refusal(500, f"{type(error).__name__}: {error}"))

    def _answer(self, request: Request, answer: Answer) -> None:
        if self.transport.is_closing():
            if isinstance(answer, (Stream, Upgrade)):
                answer.lost()
        elif isinstance(answer, Response):
            self._respond(request, answer)
        else:
            self._open(request, answer)

    def _open(self, request: Request, answer: Stream | Upgrade) -> None:
        if isinstance(answer, Upgrade):
            self._upgraded = answer.start(self.transport, self._leftover)
            return
        self._stream = answer
        head = STATUS_LINES[answer.status] + self.server.common_headers(request)
        head += b"Content-Type: %b\r\nTransfer-Encoding: chunked\r\n" % answer.content_type
        for name, value in answer.headers:
            head += b"%b: %b\r\n" % (name, value)
        self.transport.write(head + b"\r\n")
        if request.method == "HEAD":
            answer.lost()
            self.finished()
        else:
            answer.attach(self)

    def _respond(self, request: Request, answer: Response) -> None:
        body = answer.body
        head = STATUS_LINES[answer.status] + self.server.common_headers(request)
        packed = False
        for name, value in answer.headers:
            if name == b"Cache-Control":
                head = head.replace(NOT_CACHED, b"", 1)
            head += b"%b: %b\r\n" % (name, value)
            packed = packed or name == b"Content-Encoding"
        if (
            not packed
            and len(body) > 131072
            and compression.wanted(request.headers.get(b"accept-encoding", b""), len(body))
        ):
            body = compression.compress(body)
            head += b"Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
        if not request.keep_alive or self.server.draining:
            head += b"Connection: close\r\n"
        head += b"Content-Type: %b\r\nContent-Length: %d\r\n\r\n" % (answer.content_type, len(body))
        if request.method == "HEAD":
            self.transport.write(head)
        elif len(body) < 65536:
            self.transport.write(head + body)
        else:
            self.transport.writelines((head, body))
        self.finished()

    def finished(self) -> None:
        """Go on with the next request, or close: the answer is complete."""
        request, self._busy, self._stream = self._busy, None, None
        if self.transport.is_closing():
            return
        if request is not None and (not request.keep_alive or self.server.draining):
            self.transport.close()
        elif not self._clogged:
            self._next()

    def _next(self) -> None:
        """Go on with the requests that wait, a turn of the loop for each: others have their turn in between."""
        if self._queue:
            self._busy = self._queue.popleft()
            self._regulate()
            self.server.loop.call_soon(self._handle, self._busy)
        elif self._refusal is not None:
            self._refuse(*self._refusal)

    def refuse(self, status: int, message: str) -> None:
        """Answer a request that could not even be read, when those before it are answered, and closes."""
        if self._closing:
            return
        self._closing = True
        self._receiving = False
        if self._busy is not None:
            self._refusal = status, message
        else:
            self._refuse(status, message)

    def _refuse(self, status: int, message: str) -> None:
        response = self.server.refusal(status, message)
        head = STATUS_LINES[status] + b"Connection: close\r\nContent-Type: %b\r\n" % response.content_type
        body = response.body
        self.transport.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        # To close while the client is sending would make its kernel throw the answer away.
        self.server.loop.call_later(self.server.limits.linger_seconds, self.transport.close)

    def _check_idle(self) -> None:
        """Close a connection that is idle for long, or whose client stopped in the middle of a request."""
        limits = self.server.limits
        limit = limits.idle_seconds
        if self._receiving:
            limit = limits.head_seconds if self._in_head else limits.receive_seconds
        waited = time.monotonic() - self._last
        waiting = self._busy is None or self._receiving
        if waiting and self._upgraded is None and waited >= limit:
            self.transport.close()
            return
        # The next request may begin, and be slow, right after this look.
        delay = min(limit - waited, limits.head_seconds) if waiting else limits.head_seconds
        self._timer = self.server.loop.call_later(max(delay, limits.head_seconds / 8), self._check_idle)
