"""Bodies that go on and upgraded connections, without a connection."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence, Sized
from typing import Any

from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.stream import Stream, contents
from pybernetes.lib.http.upgrade import Upgrade

Headers = dict[bytes, bytes]
# How much may wait for the reader before what can wait does.
_AHEAD = 1 << 16


class _Waiting:
    """Somebody who waits for more to come."""

    def __init__(self) -> None:
        self._waiter: asyncio.Future[None] | None = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _more(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter


class Reader(_Waiting):
    """The body of a stream, without the chunks that it goes over a connection in."""

    def __init__(self, stream: Stream | None, data: bytes = b"") -> None:
        super().__init__()
        self._stream = stream
        self._parts: deque[bytes] = deque([data] if data else [])
        self._ended = stream is None
        self.transport = self
        if stream is not None:
            stream.attach(self)

    # What a stream asks of its connection.

    backlog = Limits().backlog

    def flush_later(self, stream: Stream) -> None:
        asyncio.get_running_loop().call_soon(stream.flush)

    def left_unread(self, parts: Sequence[Sized]) -> None:
        pass  # whoever reads is a part of the control plane

    def all_read(self) -> None:
        pass

    def write(self, chunks: bytes) -> None:
        self._parts.extend(contents(chunks))
        self._ended = self._ended or chunks.endswith(b"0\r\n\r\n")
        if self._stream is not None and self.get_write_buffer_size() > _AHEAD:
            self._stream.pause()
        self._wake()

    def get_write_buffer_size(self) -> int:
        return sum(map(len, self._parts))

    def finished(self) -> None:
        self._ended = True
        self._wake()

    def abort(self) -> None:
        self.close()

    # What the client asks.

    async def read(self) -> bytes:
        """Return what came up since the last call; nothing at all at the end."""
        while not self._parts and not self._ended:
            await self._more()
        data = b"".join(self._parts)
        self._parts.clear()
        if self._stream is not None:
            self._stream.resume()
        return data

    def close(self) -> None:
        """End the stream."""
        self._ended = True
        if self._stream is not None:
            self._stream.lost()
        self._wake()


class Pipe(_Waiting):
    """The client's end of an upgraded connection within the process."""

    def __init__(self, answer: Upgrade) -> None:
        super().__init__()
        self.headers: Headers = {}
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._head = b""
        self._data = b""
        self._closed = False
        self._server = answer.start(_Far(self), b"")  # type: ignore[arg-type]

    def receive(self, data: bytes) -> None:
        """Take what the server's side wrote, which begins with the head of an HTTP answer."""
        if not self.opened.done():
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            for line in head.split(b"\r\n")[1:]:
                name, _, value = line.partition(b":")
                self.headers[name.strip().lower()] = value.strip()
            self.opened.set_result(None)
        self._data += data
        self._wake()

    async def read(self) -> bytes:
        """Return what came up since the last call; nothing at all at the end."""
        while not self._data and not self._closed:
            await self._more()
        data, self._data = self._data, b""
        return data

    def write(self, data: bytes) -> None:
        """Send bytes to the server's side."""
        if not self._closed:
            self._server.data_received(data)

    async def drain(self) -> None:
        """Do nothing: the server's side has taken all that was written."""

    def ended(self) -> None:
        """Take note that the server's side has closed."""
        self._closed = True
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("the connection was closed before it was open"))
        self._wake()

    def close(self) -> None:
        """End the connection."""
        if not self._closed:
            self._closed = True
            self._wake()
            self._server.connection_lost(None)


class _Far:
    """The server's end: what it takes for the transport of a connection."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def write(self, data: bytes) -> None:
        self._pipe.receive(data)

    def writelines(self, parts: Any) -> None:
        self._pipe.receive(b"".join(parts))

    def close(self) -> None:
        self._pipe.ended()

    def abort(self) -> None:
        self._pipe.ended()

    def is_closing(self) -> bool:
        return self._pipe._closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return len(self._pipe._data)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default
