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
from typing import Any, Union

import httptools

from pybernetes.lib import listener as listening
from pybernetes.lib.http import compression
from pybernetes.lib.http.limits import Limits, listen
from pybernetes.lib.http.messages import STATUS_LINES, Request, Response, split_target
from pybernetes.lib.http.stream import Flusher, Stream

log = logging.getLogger(__name__)
Answer = Union[Response, Stream, "Upgrade"]
Application = Callable[[Any], "Answer | Awaitable[Answer]"]

NOT_CACHED = b"Cache-Control: no-cache, private\r\n"


class Upgrade:
    """An answer that takes the raw connection over: ``start`` gets the transport and what was already read.

    It returns the protocol that receives the bytes from then on.
    """

    def __init__(self, start: Callable[[asyncio.Transport, bytes], asyncio.Protocol]) -> None:
        self.start = start


class Connection(asyncio.Protocol):
    """The protocol of one connection."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self.peer: Any = None  # what authentication found out about the client's certificate
        self.credential: Any = None  # and about the token that it sent last: see authn/authentication.py
        self._parser: Any = None
        self._queue: deque[Request] = deque()
        self._busy: Request | None = None
        self._stream: Stream | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._receiving = False
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
        self._parser = None

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

    def eof_received(self) -> bool | None:
        if self._upgraded is not None:
            return self._upgraded.eof_received()
        return None

    def pause_writing(self) -> None:
        if self._upgraded is not None:
            self._upgraded.pause_writing()
        elif self._stream is None:
            self._clogged = True
            self._regulate()

    def resume_writing(self) -> None:
        if self._upgraded is not None:
            self._upgraded.resume_writing()
        elif self._clogged:
            self._clogged = False
            self._regulate()
            if self._busy is None:
                self._next()

    def _regulate(self) -> None:
        """Reads no more requests of a client that does not take the answers, or has sent too many already."""
        pause = self._clogged or len(self._queue) > self.server.limits.pipeline
        if pause != self._paused and not self.transport.is_closing():
            self._paused = pause
            (self.transport.pause_reading if pause else self.transport.resume_reading)()

    @property
    def backlog(self) -> int:
        """How far a stream may be behind."""
        return self.server.limits.backlog

    def flush_later(self, stream: Stream) -> None:
        """Flushes a stream when its turn comes."""
        self.server.flusher.add(stream)

    def abort(self) -> None:
        """Drops the client at once."""
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
        self._header_size = 0
        self._body: bytes | bytearray = b""
        self._receiving = self._in_head = True
        self._last = time.monotonic()

    def on_url(self, url: bytes) -> None:
        self._target += url
        self._grow_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        self._grow_head(len(name) + len(value))
        if name in self._headers:
            first = self._headers[name]
            if self._repeated is None:
                self._repeated = {}
            self._repeated.setdefault(name, [first]).append(value)
            # Credentials are never mixed: the first ones count.
            value = first if name == b"authorization" else first + b", " + value
        self._headers[name] = value

    def _grow_head(self, size: int) -> None:
        self._header_size += size
        if self._header_size > self.server.limits.head:
            self.refuse(431, "the headers are too large")

    def on_headers_complete(self) -> None:
        self._in_head = False
        length = self._headers.get(b"content-length", b"0")
        limit = self.server.limits.body
        if length.isdigit() and int(length) > limit:
            self.refuse(413, f"limit is {limit}")
        elif self._headers.get(b"expect", b"").lower() == b"100-continue":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

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
        path, query = split_target(self._target)
        body = self._body if isinstance(self._body, bytes) else bytes(self._body)
        method = self._parser.get_method().decode()
        request = self.server.request_class(self, method, path, query, self._headers, body)
        request.repeated = self._repeated
        self._body = b""
        self._upgrading = self._parser.should_upgrade()
        # After an upgrade that is refused, what follows could be of either protocol.
        request.keep_alive = self._parser.should_keep_alive() and not self._upgrading
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
        answer = self.server.application(request)
        if type(answer) is Response:
            self._respond(request, answer)
        elif isinstance(answer, (Stream, Upgrade)):
            self._open(request, answer)
        else:
            self._task = self.server.loop.create_task(self._await(request, answer))  # type: ignore[arg-type]

    async def _await(self, request: Request, awaitable: Awaitable[Answer]) -> None:
        answer = await awaitable
        self._task = None
        if self.transport.is_closing():
            if isinstance(answer, Stream):
                answer.lost()
            return
        if isinstance(answer, Response):
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
        answer.attach(self, request)

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
        """The answer is complete: on to the next request, or close."""
        request, self._busy, self._stream = self._busy, None, None
        if self.transport.is_closing():
            return
        if request is not None and (not request.keep_alive or self.server.draining):
            self.transport.close()
        elif not self._clogged:
            self._next()

    def _next(self) -> None:
        """Goes on with the requests that wait, a turn of the loop for each: others have their turn in between."""
        if self._queue:
            self._busy = self._queue.popleft()
            self._regulate()
            self.server.loop.call_soon(self._handle, self._busy)
        elif self._refusal is not None:
            self._refuse(*self._refusal)

    def refuse(self, status: int, message: str) -> None:
        """Answers a request that could not even be read, when those before it are answered, and closes."""
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
        head = STATUS_LINES[status] + b"Connection: close\r\nContent-Type: application/json\r\n"
        self.transport.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(response), response))
        # To close while the client is sending would make its kernel throw the answer away.
        self.server.loop.call_later(self.server.limits.linger_seconds, self.transport.close)

    def _check_idle(self) -> None:
        """Closes a connection that is idle for long, or whose client stopped in the middle of a request."""
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


class Server:
    """Listens, and holds what all connections share."""

    def __init__(
        self,
        application: Application,
        refusal: Callable[[int, str], bytes],
        limits: Limits | None = None,
        request_class: type[Request] = Request,
    ) -> None:
        self.application = application
        self.request_class = request_class
        self.refusal = refusal
        self.limits = limits or Limits()
        self.connections: set[Connection] = set()
        self.draining = False
        self.flusher = Flusher()
        self.loop: asyncio.AbstractEventLoop = None  # type: ignore[assignment]
        self._listener: asyncio.Server | None = None
        self._second = 0
        self._common = b""

    def common_headers(self, request: Request) -> bytes:
        """The headers of every response; the date is formatted once a second."""
        now = int(time.time())
        if now != self._second:
            self._second = now
            date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(now))
            self._common = NOT_CACHED + f"Date: {date}\r\n".encode()
        return self._common + request.response_headers()

    async def start(self, host: str, port: int, context: ssl.SSLContext) -> int:
        """Listens; gives the port, which matters when it was asked for port 0."""
        self.loop = asyncio.get_running_loop()
        listener = listen(host, port, self.limits)
        self._listener = await self.loop.create_server(
            lambda: Connection(self), sock=listener, ssl=context, backlog=1024, ssl_handshake_timeout=10
        )
        return listener.getsockname()[1]

    async def drain(self, seconds: float) -> None:
        """Takes no new connections, ends streams, waits for requests under way, then closes."""
        self.draining = True
        if self._listener is not None:
            await listening.close(self._listener)
        for connection in list(self.connections):
            if connection._stream is not None:
                connection._stream.end()
            elif connection._busy is None:
                connection.transport.close()
        deadline = time.monotonic() + seconds
        while any(connection.is_busy for connection in self.connections) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        for connection in list(self.connections):
            connection.abort()
