"""One HTTP/2 connection with the calls on it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from pybernetes.lib.grpc import frames
from pybernetes.lib.grpc.frames import ProtocolError
from pybernetes.lib.grpc.header_blocks import MOST_BYTES as MOST_HEADER_BYTES
from pybernetes.lib.grpc.header_blocks import HeaderReader
from pybernetes.lib.grpc.status import RpcError, StatusCode
from pybernetes.lib.grpc.stream import Stream, window

# A peer whose answers to its own pings and settings are not read is cut off.
_MOST_UNREAD = 1 << 20
_LAST_STREAM = 1 << 30  # a connection that has had so many calls gives way to a new one
_PING_SECONDS, _PONG_SECONDS = 30.0, 10.0
# Go's servers ping to measure, and until they are answered they do not again: answered at once, they would with every answer.
_REPLY_SECONDS = 0.01


class Connection(asyncio.Protocol):
    """Frames in and out; which stream they belong to, and how much may be sent."""

    def __init__(self, most_bytes: int, pings: bool, lost: Callable[[Connection], None]) -> None:
        self._most_bytes, self._pings, self._lost = most_bytes, pings, lost
        self._streams: dict[int, Stream] = {}
        self._next = 1
        self._reader, self._headers = frames.FrameReader(), HeaderReader()
        self._block: tuple[int, int, bytearray] | None = (
            None  # stream, flags and what there is of split headers
        )
        self._window = self._first_window = frames.WINDOW_BYTES
        self._most_streams = frames.MOST_WINDOW
        self._unacknowledged = self._unread = 0
        self._replies = b""
        self._reply_timer: asyncio.TimerHandle | None = None
        self._waiting: deque[Stream] = deque()  # have something to send and may not
        self._queue: deque[asyncio.Future[None]] = deque()  # calls that the peer has no room for
        self._transport: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._heard = 0.0
        self.is_usable = False

    # -- the transport -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say hello."""
        self._transport = transport
        self.is_usable = True
        hello = frames.settings(
            {
                frames.HEADER_TABLE_SIZE: 0,
                frames.ENABLE_PUSH: 0,
                frames.INITIAL_WINDOW_SIZE: window(self._most_bytes),
            }
        )
        more = frames.window_update(0, frames.MOST_WINDOW - frames.WINDOW_BYTES)
        transport.write(frames.PREFACE + hello + more)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Take frames to their streams."""
        try:
            for kind, flags, stream, payload in self._reader.feed(data):
                if self._block is not None and kind != frames.CONTINUATION:
                    raise ProtocolError("headers are interrupted")
                if kind == frames.DATA:
                    self._data(flags, stream, payload)
                elif kind == frames.HEADERS:
                    self._begin_headers(stream, flags, frames.content(flags, payload))
                elif kind == frames.CONTINUATION:
                    self._continue_headers(stream, flags, payload)
                else:
                    self._control(kind, flags, stream, payload)
        except ProtocolError as error:
            self.close(f"the peer broke the protocol: {error}")

    def eof_received(self) -> None:
        """Close this side too."""

    def connection_lost(self, error: Exception | None) -> None:
        """End every call."""
        self.close(f"the connection was lost: {error}" if error else "the connection was closed by the peer")

    def close(self, reason: str) -> None:
        """End the connection and every call on it."""
        self.is_usable = False
        for timer in filter(None, (self._timer, self._reply_timer)):
            timer.cancel()
        self._timer = self._reply_timer = None
        self._transport.abort()
        streams, self._streams = self._streams, {}
        self._waiting.clear()
        while self._queue:
            self._admit()
        for stream in streams.values():
            stream.end(RpcError(StatusCode.UNAVAILABLE, reason))
        self._lost(self)

    @property
    def protocol(self) -> str | None:
        """What the peer agreed to speak, over TLS."""
        tls = self._transport.get_extra_info("ssl_object")
        return None if tls is None else tls.selected_alpn_protocol()

    # -- calls -------------------------------------------------------------------------------------------

    @property
    def has_room(self) -> bool:
        """Whether the peer takes one more call now."""
        return len(self._streams) < self._most_streams

    async def room(self) -> None:
        """Wait until another call has ended."""
        waiter = asyncio.get_running_loop().create_future()
        self._queue.append(waiter)
        await waiter

    def _admit(self) -> None:
        while self._queue:
            waiter = self._queue.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _take(self, number: int) -> Stream | None:
        """Return the stream of a call that has ended."""
        stream = self._streams.pop(number, None)
        if self._queue:
            self._admit()
        if not self._streams and not self.is_usable:
            asyncio.get_running_loop().call_soon(self.close, "the server went away")
        return stream

    def begin(self, block: bytes, stream: Stream) -> None:
        """Begin a call with the headers in a block."""
        number = self._next
        self._next = number + 2
        if number >= _LAST_STREAM:
            self.is_usable = False
        stream.opened(self, number, self._first_window)
        self._streams[number] = stream
        message = stream.first
        if message is not None and len(message) <= min(self._window, self._first_window, frames.FRAME_BYTES):
            # The whole question in one write, as nearly all are.
            flags = frames.END_STREAM if stream.is_done_sending else 0
            self._window -= len(message)
            stream.window -= len(message)
            self._transport.write(
                frames.frame(frames.HEADERS, frames.END_HEADERS, number, block)
                + frames.frame(frames.DATA, flags, number, message)
            )
        else:
            self._transport.write(frames.frame(frames.HEADERS, frames.END_HEADERS, number, block))
            if message is not None:
                stream.unsent += message
                self.send(stream)
        if self._pings and self._timer is None:
            loop = asyncio.get_running_loop()
            self._heard = loop.time()
            self._timer = loop.call_later(_PING_SECONDS, self._ping, loop)

    def send(self, stream: Stream) -> None:
        """Send what a stream has to say, as far as the windows allow."""
        unsent = stream.unsent
        while True:
            size = min(len(unsent), self._window, stream.window, frames.FRAME_BYTES)
            if size <= 0 and unsent:
                if stream not in self._waiting:
                    self._waiting.append(stream)
                return
            piece = bytes(unsent[:size])
            del unsent[:size]
            self._window -= size
            stream.window -= size
            ends = not unsent and stream.is_done_sending
            if piece or ends:
                self._transport.write(
                    frames.frame(frames.DATA, frames.END_STREAM if ends else 0, stream.number, piece)
                )
            if not unsent:
                return

    def forget(self, number: int) -> None:
        """Cancel a call that nobody waits for any more."""
        stream = self._take(number)
        if stream is not None and not self._transport.is_closing():
            if stream in self._waiting:
                self._waiting.remove(stream)
            self._transport.write(frames.reset(number))

    def consumed(self, number: int, size: int) -> None:
        """Let the peer send as much on a stream as has been read from it."""
        if number in self._streams:
            self._transport.write(frames.window_update(number, size))

    # -- what the peer sends -----------------------------------------------------------------------------

    def _data(self, flags: int, number: int, payload: bytes) -> None:
        self._unacknowledged += len(payload)
        if self._unacknowledged > frames.MOST_WINDOW // 2:
            self._transport.write(frames.window_update(0, self._unacknowledged))
            self._unacknowledged = 0
        stream = self._streams.get(number)
        if stream is None:
            if number >= self._next or not number % 2:
                raise ProtocolError(f"data of a stream {number} that is not there")
            return  # cancelled a moment ago
        stream.received(frames.content(flags, payload), len(payload))
        if flags & frames.END_STREAM:
            self._take(number)
            stream.end(RpcError(StatusCode.INTERNAL, "server closed the stream without sending trailers"))

    def _begin_headers(self, number: int, flags: int, block: bytes) -> None:
        if not flags & frames.END_HEADERS:
            self._block = (number, flags, bytearray(block))
        else:
            self._complete_headers(number, flags, block)

    def _continue_headers(self, number: int, flags: int, payload: bytes) -> None:
        if self._block is None or self._block[0] != number or not payload:
            raise ProtocolError("a continuation of nothing")
        _, first, block = self._block
        block += payload
        if len(block) > MOST_HEADER_BYTES:
            raise ProtocolError(f"headers of more than {MOST_HEADER_BYTES} bytes")
        if flags & frames.END_HEADERS:
            self._block = None
            self._complete_headers(number, first, bytes(block))

    def _complete_headers(self, number: int, flags: int, block: bytes) -> None:
        headers = self._headers.read(block)
        stream = self._streams.get(number)
        if stream is None:
            if number >= self._next or not number % 2:
                raise ProtocolError(f"headers of a stream {number} that is not there")
            return
        if flags & frames.END_STREAM:
            self._take(number)
            stream.trailers(headers)
            if not stream.is_done_sending or stream.unsent:
                self._transport.write(frames.reset(number, frames.NO_ERROR))
        else:
            stream.headers(headers)

    def _control(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if kind == frames.SETTINGS:
            if not flags & frames.ACK:
                self._settings(payload)
        elif kind == frames.PING:
            if flags & frames.ACK:
                self._heard = asyncio.get_running_loop().time()
            else:
                self._reply(frames.frame(frames.PING, frames.ACK, 0, payload[:8]))
        elif kind == frames.WINDOW_UPDATE:
            self._widen(number, frames.read_number(payload) & frames.MOST_WINDOW)
        elif kind == frames.RST_STREAM:
            stream = self._take(number)
            if stream is not None:
                error = frames.read_number(payload)
                code = StatusCode.CANCELLED if error == frames.CANCEL else StatusCode.UNAVAILABLE
                stream.end(RpcError(code, f"stream terminated by RST_STREAM with error code: {error}"))
        elif kind == frames.GOAWAY:
            self._go_away(frames.read_number(payload) & frames.MOST_WINDOW)
        elif kind == frames.PUSH_PROMISE:
            raise ProtocolError("a push that was not allowed")

    def _settings(self, payload: bytes) -> None:
        for name, value in frames.read_settings(payload):
            if name == frames.INITIAL_WINDOW_SIZE:
                if value > frames.MOST_WINDOW:
                    raise ProtocolError(f"a window of {value} bytes")
                for stream in self._streams.values():
                    stream.window += value - self._first_window
                self._first_window = value
            elif name == frames.MAX_CONCURRENT_STREAMS:
                self._most_streams = value
        # Before anything is sent that they allow.
        self._reply(frames.frame(frames.SETTINGS, frames.ACK, 0))
        self._send_replies()
        self._send_waiting()

    def _reply(self, answer: bytes) -> None:
        self._unread = self._unread + len(answer) if self._transport.get_write_buffer_size() else 0
        if self._unread > _MOST_UNREAD:
            raise ProtocolError("the peer asks and does not read the answers")
        self._replies += answer
        if len(self._replies) > frames.FRAME_BYTES:
            self._send_replies()
        elif self._reply_timer is None:
            loop = asyncio.get_running_loop()
            self._reply_timer = loop.call_later(_REPLY_SECONDS, self._reply_in_time)

    def _reply_in_time(self) -> None:
        self._reply_timer = None
        self._send_replies()

    def _send_replies(self) -> None:
        replies, self._replies = self._replies, b""
        if replies and not self._transport.is_closing():
            self._transport.write(replies)

    def _widen(self, number: int, size: int) -> None:
        if number == 0:
            self._window += size
            window = self._window
        elif (stream := self._streams.get(number)) is not None:
            stream.window += size
            window = stream.window
        else:
            return
        if window > frames.MOST_WINDOW:
            raise ProtocolError("a window of more than can be")
        self._send_waiting()

    def _send_waiting(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for stream in waiting:
            if stream.number in self._streams:
                self.send(stream)

    def _go_away(self, last: int) -> None:
        """Take no more calls; those that the peer has not begun can be made again elsewhere."""
        self.is_usable = False
        for number in [number for number in self._streams if number > last]:
            self._streams.pop(number).end(RpcError(StatusCode.UNAVAILABLE, "the server goes away"))
        if not self._streams:
            self.close("the server went away")
        while self._queue:
            self._admit()

    def _ping(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ask whether the peer is there, while somebody waits for it; give up when it has not answered."""
        self._timer = None
        if not self._streams:
            return
        asked = loop.time()
        self._transport.write(frames.frame(frames.PING, 0, 0, bytes(8)))

        def check() -> None:
            self._timer = None
            if self._heard < asked:
                self.close("keepalive watchdog timeout")
            else:
                self._timer = loop.call_later(_PING_SECONDS, self._ping, loop)

        self._timer = loop.call_later(_PONG_SECONDS, check)
