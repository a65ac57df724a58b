"""One client connection: has requests parsed, hands them to the application, writes answers.

An application is a callable that gets a request and gives a response, a stream, an upgrade, or an
awaitable of one of them. The common read takes no task at all: bytes in, a function call, bytes out.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence, Sized
from itertools import chain
from typing import TYPE_CHECKING, Any

from pybernetes.lib.http.messages import NOT_CACHED, STATUS_LINES, Request, Response
from pybernetes.lib.http.request_parser import RequestParser
from pybernetes.lib.http.sending import LARGE, PACKED, SLICE, packed_chunks, slices
from pybernetes.lib.http.stream import Stream
from pybernetes.lib.http.upgrade import Upgrade
from pybernetes.lib.tls.paced_tls import PacedObject

if TYPE_CHECKING:
    from pybernetes.lib.http.server import Server

log = logging.getLogger(__name__)
Answer = Response | Stream | Upgrade
Application = Callable[[Any], "Answer | Awaitable[Answer]"]


class Connection(RequestParser):
    """The protocol of one connection."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self._queue: deque[Request] = deque()
        self._busy: Request | None = None
        self._stream: Stream | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._refusal: tuple[int, str] | None = None
        # The rest of an answer that is sent in slices, and when that has taken too long.
        self._slices: Iterator[bytes] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        # Whether answers wait for the client to take them: no more is read meanwhile.
        self._clogged = False
        # Whether what it has sent is so much that it is counted.
        self._holding = False

    # -- the transport ---------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        # TLS would keep half a megabyte for a client that takes nothing.
        self.transport.set_write_buffer_limits(SLICE)
        if len(self.server.connections) >= self.server.limits.connections and not self.server.make_room():
            self.abort()
            return
        self._begin()
        if isinstance(self.tls, PacedObject):
            self.tls.pace(self)
        self.server.connections.add(self)
        self._timer = self.server.loop.call_later(self.server.limits.head_seconds, self._check_idle)

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stream is not None:
            self._stream.lost()
            self._stream = None
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._sent()
        if self._holding:
            self._holding = False
            self.server.unanswered.release(self)
        if self._upgraded is not None:
            self._upgraded.connection_lost(error)
            if self._busy is not None:
                self._busy.connection_ended()
        # Requests know their connection: their bodies would stay until garbage is collected.
        self._queue.clear()
        self._busy = None
        if isinstance(self.tls, PacedObject):
            self.tls.pace(None)
        self._let_go()

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
            if self._slices is not None:
                self.server.sending.ask(self)
            elif self._stream is not None:
                self._stream.resume()
            elif self._busy is None:
                self._next()

    def _regulate(self) -> None:
        """Read no more requests of a client that does not take the answers, or has sent too many already."""
        pause = self._clogged or len(self._queue) > self.server.limits.pipeline
        if pause != self._paused and not self.transport.is_closing():
            self._paused = pause
            if pause:
                self.transport.pause_reading()
            elif self._unparsed:
                self.server.loop.call_soon(self._parse_on)
            else:
                self.transport.resume_reading()

    def _parse_on(self) -> None:
        """Go on with what was read before it became too much, and read more once there is nothing of it left."""
        if self._paused or self._parser is None or self.transport.is_closing():
            return
        data, self._unparsed = self._unparsed, b""
        self._parse(data)
        if not self._paused:
            self.transport.resume_reading()

    @property
    def backlog(self) -> int:
        """How far a stream may be behind."""
        return self.server.limits.backlog

    def flush_later(self, stream: Stream) -> None:
        """Flush a stream when its turn comes."""
        self.server.flusher.add(stream)

    def left_unread(self, parts: Sequence[Sized]) -> None:
        """Note what waits for the client of the stream that is open."""
        if self._busy is not None:
            self.server.unread.hold(self, self._busy.owner(), parts)

    def all_read(self) -> None:
        """Note that nothing of the stream waits any more."""
        self.server.unread.release(self)

    def drain(self) -> None:
        """End the stream that is open, or the connection if it is idle."""
        if self._stream is not None:
            self._stream.drain()
        elif self._busy is None:
            self.close()

    def close(self) -> None:
        """End when the client has taken what was written, or after a while without that."""
        if self.transport.is_closing():
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.server.loop.call_later(self.server.limits.stall_seconds, self.abort)
        self.transport.close()

    def abort(self) -> None:
        """Drop the client at once."""
        self.transport.abort()

    def address(self) -> str:
        """Return where the client is; empty if that has no address."""
        peer = self.transport.get_extra_info("peername")
        return str(peer[0]) if isinstance(peer, tuple) else ""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way, not even a part of a request."""
        return self._busy is None and not self._receiving and not self._queue

    @property
    def is_busy(self) -> bool:
        """Whether an answer is under way that has an end (what was upgraded has none)."""
        return self._busy is not None and self._upgraded is None

    @property
    def tls(self) -> ssl.SSLObject | None:
        """The TLS session, for the client's certificate."""
        return self.transport.get_extra_info("ssl_object")

    # -- requests and answers ----------------------------------------------------------------------------

    def received(self, request: Request) -> None:
        """Answer a request, after those before it."""
        if self._busy is None and not self._clogged:
            self._handle(request)
        else:
            self._queue.append(request)
            self._regulate()

    def hold(self) -> None:
        """Count what this connection holds of requests: the one that comes in, those that wait, and the one at work."""
        size = self._wire if self._receiving else 0
        size += sum(request.wire for request in self._queue)
        if self._busy is not None:
            size += self._busy.wire
        self._holding = self.server.unanswered.hold(self, size)

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
            else:
                request.written()
        elif isinstance(answer, Response):
            self._respond(request, answer)
        else:
            self._open(request, answer)

    def _open(self, request: Request, answer: Stream | Upgrade) -> None:
        if isinstance(answer, Upgrade):
            self._upgraded = answer.start(self.transport, bytes(self._leftover))
            self._leftover.clear()
            if self._paused:
                self._paused = False
                self.transport.resume_reading()
            return
        if self._upgrading:
            self._stay()
        self._stream = answer
        if self._clogged:  # by the answer before
            answer.pause()
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
        if self._upgrading:
            self._stay()
        head = STATUS_LINES[answer.status] + self.server.common_headers(request)
        packed = False
        for name, value in answer.headers:
            if name == b"Cache-Control":
                head = head.replace(NOT_CACHED, b"", 1)
            head += b"%b: %b\r\n" % (name, value)
            packed = packed or name == b"Content-Encoding"
        if not request.keep_alive or self.server.draining:
            head += b"Connection: close\r\n"
        size = len(answer.body) if type(answer) is Response else answer.size
        if size >= LARGE:
            self._send(request, head, answer, packed)
            return
        head += b"Content-Type: %b\r\nContent-Length: %d\r\n\r\n" % (answer.content_type, size)
        self.transport.write(head if request.method == "HEAD" else head + answer.body)
        self.finished()

    def _send(self, request: Request, head: bytes, answer: Response, packed: bool) -> None:
        """Send a large answer in slices, as fast as the client takes them."""
        # Those of HTTP/1.0 do not know chunks.
        current = request.keep_alive or b"connection" in request.headers
        pack = current and not packed and b"gzip" in request.headers.get(b"accept-encoding", b"")
        kind = b"Content-Type: %b\r\n\r\n" % answer.content_type
        if pack and answer.size > PACKED:
            head += (
                b"Content-Encoding: gzip\r\nVary: Accept-Encoding\r\nTransfer-Encoding: chunked\r\n" + kind
            )
            self._slices = chain((head,), packed_chunks(answer.in_parts()))
        else:
            # The head goes with the first slice: every write is a record of TLS and a call of the system.
            head += b"Content-Length: %d\r\n" % answer.size + kind
            self._slices = slices((head, *answer.in_parts()))
        if request.method == "HEAD":
            self._slices = iter((head,))
        self.server.sending.ask(self)
        if self._slices is not None:
            self._deadline = self.server.loop.call_later(self.server.limits.answer_seconds, self.abort)
            self.server.unread.hold(self, request.owner(), answer.in_parts())

    def send_slice(self) -> bool:
        """Send the next slice of a large answer; return whether another can follow at once."""
        if self._slices is None or self._clogged:
            return False
        data = next(self._slices, None)
        if data is None:
            self._sent()
            self.finished()
            return False
        self.transport.write(data)
        return not self._clogged

    def _sent(self) -> None:
        """Let go of an answer that was sent in slices: nothing of it is left, or nobody is there to take it."""
        self._slices = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
            self.server.unread.release(self)
        if self._busy is not None:
            self._busy.written()

    def finished(self) -> None:
        """Go on with the next request, or close: the answer is complete."""
        request, self._busy, self._stream = self._busy, None, None
        if self._holding:
            self.hold()
        if self.transport.is_closing():
            return
        if request is not None and (not request.keep_alive or self.server.draining):
            self.close()
        elif not self._clogged and (self._queue or self._refusal is not None):
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
        self.server.loop.call_soon(self._forget)  # the parser is still at it
        if self._busy is not None:
            self._refusal = status, message
        else:
            self._refuse(status, message)

    def _refuse(self, status: int, message: str) -> None:
        response = self.server.refusal(status, message)
        head = STATUS_LINES[status] + b"Connection: close\r\nContent-Type: %b\r\n" % response.content_type
        body = response.body
        self.transport.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        # To close while the client is sending would make its kernel throw the answer away. When it is gone before, the
        # timer goes with it: it would hold this connection.
        if self._timer is not None:
            self._timer.cancel()
            self._timer = self.server.loop.call_later(self.server.limits.linger_seconds, self.close)

    def _check_idle(self) -> None:
        """Close a connection that is idle for long, or whose client stopped in the middle of a request."""
        limits = self.server.limits
        limit = limits.idle_seconds if self._wire else limits.head_seconds
        if self._receiving:
            limit = limits.head_seconds if self._in_head else limits.receive_seconds
        waited = time.monotonic() - self._last
        waiting = self._busy is None or self._receiving
        if waiting and self._upgraded is None and waited >= limit:
            self.close()
            return
        # The next request may begin, and be slow, right after this look.
        delay = min(limit - waited, limits.head_seconds) if waiting else limits.head_seconds
        self._timer = self.server.loop.call_later(max(delay, limits.head_seconds / 8), self._check_idle)
