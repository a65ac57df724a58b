"""A response that goes on: chunked frames, one write for all that came up in one turn of the loop."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Sized
from typing import Any, Protocol

from pybernetes.lib.http.messages import JSON
from pybernetes.lib.http.unread import Written

_STREAMS_PER_TURN = 8
# Of what a stream begins with, about this much is made at a time.
_PART = 128 * 1024
# So far behind a stream may be for nothing: every connection takes about as much.
_FREE = 256 * 1024
# How long parts are asked for at once: small ones, and empty ones, take time as well.
_PART_SECONDS = 0.004


def chunk(data: bytes) -> bytes:
    """Return data as one chunk of the chunked transfer encoding."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def contents(data: bytes) -> Iterator[bytes]:
    """Return the contents of whole chunks of the chunked transfer encoding."""
    at = 0
    while at < len(data):
        end = data.index(b"\r\n", at)
        size = int(data[at:end], 16)
        if size:
            yield data[end + 2 : end + 2 + size]
        at = end + 2 + size + 2


class Outlet(Protocol):
    """The bytes on their way to a client, as a stream sees them: mostly the transport of its connection."""

    def write(self, data: bytes) -> Any:
        """Send bytes, now or later."""

    def get_write_buffer_size(self) -> int:
        """Return how many bytes wait for the client."""


class Client(Protocol):
    """Whoever a stream goes to: mostly a connection."""

    @property
    def transport(self) -> Outlet:
        """Where the bytes go."""

    @property
    def backlog(self) -> int:
        """How far a stream may be behind."""

    def flush_later(self, stream: Stream) -> None:
        """Flush a stream when its turn comes."""

    def left_unread(self, parts: Sequence[Sized]) -> None:
        """Note what waits for the client beside what has been noted, until it is let go of."""

    def all_read(self) -> None:
        """Note that nothing waits any more."""

    def finished(self) -> None:
        """Note that the stream is complete."""

    def abort(self) -> None:
        """Drop the client at once."""


class Flusher:
    """Send what streams have queued, a few streams per turn of the loop.

    Between the turns new events come in and join what waits, so that with many watchers each write carries
    more of them, while a lone event goes out at once.
    """

    def __init__(self) -> None:
        self._waiting: deque[Stream] = deque()
        self._running = False

    def add(self, stream: Stream) -> None:
        """Note a stream that has something to send."""
        self._waiting.append(stream)
        if not self._running:
            self._running = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        waiting = self._waiting
        for _ in range(min(len(waiting), _STREAMS_PER_TURN)):
            waiting.popleft().flush()
        if waiting:
            asyncio.get_running_loop().call_soon(self._run)
        else:
            self._running = False


class Stream:
    """An open response. ``write`` takes data that is already chunk-encoded, so that many streams share it."""

    def __init__(self, *, content_type: bytes = JSON, status: int = 200) -> None:
        self.content_type = content_type
        self.status = status
        self.headers: tuple[tuple[bytes, bytes], ...] = ()
        # Called when the client went away or the stream was ended.
        self.on_close: Callable[[], None] | None = None
        # Called after that, for whoever notes what becomes of requests.
        self.on_end: Callable[[], Any] | None = None
        # Called once the head is sent, to write the first frames.
        self.on_open: Callable[[], None] | None = None
        self._connection: Client | None = None
        self._source: Iterator[bytes] | None = None
        self._pending: list[bytes] = []
        # How much of that waits because the client takes nothing.
        self._waiting = 0
        self._held = self._scheduled = False
        self._head_start = 0
        # How many of the pending ones are noted as held for the client, None if nothing is.
        self._noted: int | None = None
        self.closed = False
        self._finished = False

    def attach(self, connection: Client) -> None:
        """Take the connection over; called by it."""
        self._connection = connection
        if self.on_open is not None:
            opened, self.on_open = self.on_open, None
            opened()
        self._head_start = sum(map(len, self._pending))
        if (
            self._pending or self._source is not None
        ) and not self._scheduled:  # written before the head was sent
            self.flush()
        if self._finished:
            self.end()

    def begin_with(self, source: Iterator[bytes]) -> None:
        """Send what an iterator gives before anything that is written; it is asked as fast as the client reads."""
        self._source = source
        self._schedule()

    def write(self, chunks: bytes) -> None:
        """Queue chunks; everything queued in one turn of the loop goes out together."""
        if self.closed:
            return
        self._pending.append(chunks)
        if self._held:
            self._waiting += len(chunks)
            self._check_backlog()
        else:
            self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and self._connection is not None:
            self._scheduled = True
            self._connection.flush_later(self)

    def flush(self) -> None:
        """Send what is queued, unless the client has not taken what was sent before."""
        self._scheduled = False
        if self.closed or self._connection is None or self._held:
            return
        if self._source is not None:
            self._send_source(self._connection)
        elif self._pending:
            self._send_pending(self._connection)

    def _send_source(self, connection: Client) -> None:
        """Send a part of what the stream begins with; others have their turn before the next one."""
        assert self._source is not None
        parts, size = [], 0
        end = time.monotonic() + _PART_SECONDS
        for part in self._source:
            parts.append(part)
            size += len(part)
            if size >= _PART or time.monotonic() > end:
                break
        else:
            self._source = None
        if parts:
            connection.transport.write(b"".join(parts))
        if not self._held and (self._source is not None or self._pending):
            self._schedule()

    def _send_pending(self, connection: Client) -> None:
        data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        self._pending.clear()
        self._waiting = 0
        connection.transport.write(data)
        self._check_backlog()

    def _check_backlog(self) -> None:
        """Cut off a client that is too far behind."""
        connection = self._connection
        if connection is None:
            return
        behind = self._waiting + connection.transport.get_write_buffer_size()
        # What the stream began with, however much it is, does not count against the client.
        self._head_start = min(self._head_start, behind)
        if behind - self._head_start > connection.backlog:
            connection.abort()
        elif self._held and behind > _FREE:
            self._note(connection)

    def _note(self, connection: Client) -> None:
        """Have it count, with what waits for all other clients, what waits for this one."""
        noted, self._noted = self._noted, len(self._pending)
        if noted is None:
            connection.left_unread((Written(connection.transport.get_write_buffer_size()), *self._pending))
        elif noted < len(self._pending):
            connection.left_unread(self._pending[noted:])

    def pause(self) -> None:
        """Keep what is written from now on: the client has not taken what was sent."""
        self._held = True
        self._waiting = sum(map(len, self._pending))
        self._check_backlog()

    def resume(self) -> None:
        """Go on: the client has caught up."""
        if self._held:
            self._held = False
            if self._noted is not None and self._connection is not None:
                self._noted = None
                self._connection.all_read()
            self.flush()

    def drain(self) -> None:
        """Come to an end: the server is about to go away. What has no end of its own ends here."""
        self.end()

    def finish(self) -> None:
        """End the response, now or as soon as it has begun."""
        self._finished = True
        if self._connection is not None:
            self.end()

    def end(self) -> None:
        """End the response; the connection can be used again."""
        if self.closed:
            return
        self._pending.append(b"0\r\n\r\n")
        connection = self._connection
        if connection is not None:
            self._source = None  # what it began with may be cut off: the client has no end of it either
            self._send_pending(connection)
        self.lost()
        if connection is not None:
            connection.finished()

    def lost(self) -> None:
        """Let go of everything; called when the client went away.

        Of the connection as well: in a ring with it, TLS and all, it would stay until garbage is collected, which is seldom.
        """
        if self.closed:
            return
        self.closed = True
        if self._noted is not None and self._connection is not None:
            self._connection.all_read()
        self._connection = self._source = self.on_open = None
        self._pending.clear()
        if self.on_close is not None:
            self.on_close()
            self.on_close = None
        self.ended()

    def ended(self) -> None:
        """Tell whoever wants to know that nothing more comes."""
        if self.on_end is not None:
            end, self.on_end = self.on_end, None
            end()
