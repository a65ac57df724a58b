"""One HTTP/1.1 connection to an API server: a request at a time, parsed with httptools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httptools

# A body that nobody reads is not read from the network either.
_UNREAD_LIMIT = 2 << 20


class Disconnected(ConnectionError):
    """The connection ended before an answer was complete; ``begun`` says whether a part of it had come."""

    def __init__(self, text: str, begun: bool) -> None:
        super().__init__(text)
        self.begun = begun


class Answer:
    """The head of an answer and, once it is complete, its body."""

    __slots__ = ("body", "headers", "status", "warnings")

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.warnings: list[bytes] = []
        self.body = b""


class Connection(asyncio.Protocol):
    """A connection. ``request`` waits for the whole answer, ``open`` for its head."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self.idle_since = 0.0
        self.on_lost: Callable[[Connection], None] | None = None
        self._parser: Any = None
        self._answer = Answer()
        self._waiter: asyncio.Future[Answer] | None = None
        self._streaming = False
        self._parts: list[bytes] = []
        self._unread = 0
        self._reader: asyncio.Future[None] | None = None
        self._complete = True
        self._keep_alive = True
        self._upgraded = False
        self._writable: asyncio.Future[None] | None = None
        self._paused = False
        self.lost = False
        self.error: Exception | None = None

    @property
    def headers(self) -> dict[bytes, bytes]:
        """The headers of the last answer."""
        return self._answer.headers

    @property
    def reusable(self) -> bool:
        """Whether another request can be sent."""
        return self._complete and self._keep_alive and not self.lost and not self._upgraded

    # -- sending -----------------------------------------------------------------------------------------

    def _send(self, data: bytes) -> asyncio.Future[Answer]:
        self._parser = httptools.HttpResponseParser(self)
        self._answer = Answer()
        self._parts = []
        self._complete = False
        self._keep_alive = False
        self._waiter = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        return self._waiter

    async def request(self, data: bytes) -> Answer:
        """Sends a request and gives the answer with its body."""
        self._streaming = False
        try:
            return await self._send(data)
        except asyncio.CancelledError:
            self.transport.abort()  # an answer that nobody waits for must not meet the next request
            raise

    async def open(self, data: bytes) -> Answer:
        """Sends a request and gives the head of the answer; ``read`` gives the body as it comes."""
        self._streaming = True
        try:
            return await self._send(data)
        except asyncio.CancelledError:
            self.transport.abort()
            raise

    async def read(self) -> bytes:
        """What came of the body since the last call; nothing at all at its end."""
        while not self._parts:
            if self.lost and not self._complete:
                raise Disconnected(str(self.error or "the connection was closed"), True)
            if self._complete or self.lost:
                return b""
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        if self._unread > _UNREAD_LIMIT:
            self.transport.resume_reading()
        self._unread = 0
        return data

    def write(self, data: bytes) -> None:
        """Sends bytes after an upgrade."""
        self.transport.write(data)

    async def drain(self) -> None:
        """Waits until what was written is not too much."""
        while self._paused and not self.lost:
            self._writable = asyncio.get_running_loop().create_future()
            await self._writable

    def close(self) -> None:
        """Ends the connection; what was written after an upgrade still goes out."""
        if self.transport is not None:
            if self._upgraded:
                self.transport.close()
            else:
                self.transport.abort()

    # -- the transport -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        if self._upgraded:
            self._take(data)
            return
        if self._parser is None or self._complete:
            self.transport.abort()  # nobody asked
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            rest = data[upgrade.args[0] :]
            if rest:
                self._take(rest)
        except httptools.HttpParserError as error:
            self.error = error
            self.transport.abort()

    def eof_received(self) -> None:
        return None

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        self.error = self.error or error
        if self._upgraded or (self._streaming and self._ends_with_connection()):
            self._complete = True
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            begun = bool(self._answer.status)
            waiter.set_exception(Disconnected(str(self.error or "the server closed the connection"), begun))
        self._waiter = None
        self._wake()
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._parser = None
        if self.on_lost is not None:
            self.on_lost(self)

    def _ends_with_connection(self) -> bool:
        headers = self._answer.headers
        return self._answer.status != 0 and not (headers.keys() & {b"content-length", b"transfer-encoding"})

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)

    # -- the parser --------------------------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"warning":
            self._answer.warnings.append(value)
        self._answer.headers[name] = value

    def on_headers_complete(self) -> None:
        answer, status = self._answer, self._parser.get_status_code()
        if status < 200 and status != 101:
            answer.headers.clear()
            return
        answer.status = status
        if status == 101:
            self._upgraded = True
        if self._streaming and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(answer)

    def on_body(self, data: bytes) -> None:
        if self._streaming:
            self._take(data)
        else:
            self._parts.append(data)

    def _take(self, data: bytes) -> None:
        self._parts.append(data)
        self._unread += len(data)
        if self._unread > _UNREAD_LIMIT:
            self.transport.pause_reading()
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def on_message_complete(self) -> None:
        answer = self._answer
        if answer.status == 0 or self._upgraded:
            return
        self._complete = True
        self._keep_alive = self._parser.should_keep_alive()
        if self._streaming:
            self._wake()
            return
        parts = self._parts
        answer.body = parts[0] if len(parts) == 1 else b"".join(parts)
        self._parts = []
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(answer)
