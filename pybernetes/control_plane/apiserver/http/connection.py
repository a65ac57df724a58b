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

from pybernetes.control_plane.apiserver.http import compression
from pybernetes.control_plane.apiserver.http.messages import STATUS_LINES, Request, Response, split_target
from pybernetes.control_plane.apiserver.http.stream import Flusher, Stream

log = logging.getLogger(__name__)
Answer = Union[Response, Stream, "Upgrade"]
Application = Callable[[Request], "Answer | Awaitable[Answer]"]

BODY_LIMIT = 3 * 1024 * 1024
_IDLE_SECONDS = 180.0
# How long a client may take to send a whole request once it has begun.
_RECEIVE_SECONDS = 60.0
_HEADER_LIMIT = 64 * 1024
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
        self._closing = False

    # -- the transport ---------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self._parser = httptools.HttpRequestParser(self)
        self.server.connections.add(self)
        self._last = time.monotonic()
        self._timer = self.server.loop.call_later(_IDLE_SECONDS, self._check_idle)

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
        # The parser holds this object and this object the parser: break the ring.
        self._parser = None

    def data_received(self, data: bytes) -> None:
        if self._upgraded is not None:
            self._upgraded.data_received(data)
            return
        if self._upgrading:  # the answer that takes the connection over is still being made
            self._leftover += data
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._leftover = data[upgrade.args[0] :]
        except httptools.HttpParserError as error:
            if not self._closing:
                self.refuse(400, str(error))

    def eof_received(self) -> bool | None:
        if self._upgraded is not None:
            return self._upgraded.eof_received()
        return None

    def pause_writing(self) -> None:
        if self._upgraded is not None:
            self._upgraded.pause_writing()

    def resume_writing(self) -> None:
        if self._upgraded is not None:
            self._upgraded.resume_writing()

    def abort(self) -> None:
        """Drops the client at once."""
        self.transport.abort()

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
        self._body = b""
        self._receiving = True
        self._last = time.monotonic()

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        self._header_size += len(name) + len(value)
        if self._header_size > _HEADER_LIMIT:
            self.refuse(431, "the headers are too large")
        if name in self._headers:
            first = self._headers[name]
            if self._repeated is None:
                self._repeated = {}
            self._repeated.setdefault(name, [first]).append(value)
            # Credentials are never mixed: the first ones count.
            value = first if name == b"authorization" else first + b", " + value
        self._headers[name] = value

    def on_headers_complete(self) -> None:
        length = self._headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > BODY_LIMIT:
            self.refuse(413, f"limit is {BODY_LIMIT}")
        elif self._headers.get(b"expect", b"").lower() == b"100-continue":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, data: bytes) -> None:
        self._body = self._body + data if self._body else data
        if len(self._body) > BODY_LIMIT and not self._closing:
            self.refuse(413, f"limit is {BODY_LIMIT}")

    def on_message_complete(self) -> None:
        if self._closing:
            return
        self._receiving = False
        path, query = split_target(self._target)
        request = Request(self, self._parser.get_method().decode(), path, query, self._headers, self._body)
        request.repeated = self._repeated
        self._body = b""
        self._upgrading = self._parser.should_upgrade()
        # After an upgrade that is refused, what follows could be of either protocol.
        request.keep_alive = self._parser.should_keep_alive() and not self._upgrading
        if self._busy is None:
            self._handle(request)
        else:
            self._queue.append(request)
            if len(self._queue) > 16:
                self.abort()

    # -- requests and answers ----------------------------------------------------------------------------

    def _handle(self, request: Request) -> None:
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
        elif self._queue:
            self._handle(self._queue.popleft())

    def refuse(self, status: int, message: str) -> None:
        """Answers a request that could not even be read, and closes."""
        self._closing = True
        response = self.server.refusal(status, message)
        head = STATUS_LINES[status] + b"Connection: close\r\nContent-Type: application/json\r\n"
        self.transport.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(response), response))
        self.transport.close()

    def _check_idle(self) -> None:
        """Closes a connection that is idle for long, or whose client stopped in the middle of a request."""
        limit = _RECEIVE_SECONDS if self._receiving else _IDLE_SECONDS
        waited = time.monotonic() - self._last
        waiting = self._busy is None or self._receiving
        if waiting and self._upgraded is None and waited >= limit:
            self.transport.close()
            return
        delay = max(limit - waited, 5.0) if waiting else _RECEIVE_SECONDS
        self._timer = self.server.loop.call_later(delay, self._check_idle)


class Server:
    """Listens, and holds what all connections share."""

    def __init__(self, application: Application, refusal: Callable[[int, str], bytes]) -> None:
        self.application = application
        self.refusal = refusal
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
        if request.warnings:
            return self._common + b"".join(_warning(text) for text in request.warnings)
        return self._common

    async def start(self, host: str, port: int, context: ssl.SSLContext) -> int:
        """Listens; gives the port, which matters when it was asked for port 0."""
        self.loop = asyncio.get_running_loop()
        self._listener = await self.loop.create_server(
            lambda: Connection(self), host, port, ssl=context, backlog=1024, ssl_handshake_timeout=10
        )
        return self._listener.sockets[0].getsockname()[1]

    async def drain(self, seconds: float) -> None:
        """Takes no new connections, ends streams, waits for requests under way, then closes."""
        self.draining = True
        if self._listener is not None:
            self._listener.close()
        for connection in list(self.connections):
            if connection._stream is not None:
                connection._stream.end()
            elif connection._busy is None:
                connection.transport.close()
        deadline = time.monotonic() + seconds
        while (
            any(connection._busy is not None for connection in self.connections)
            and time.monotonic() < deadline
        ):
            await asyncio.sleep(0.02)
        for connection in list(self.connections):
            connection.abort()


def _warning(text: str) -> bytes:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", " ")
    return f'Warning: 299 - "{quoted}"\r\n'.encode()
