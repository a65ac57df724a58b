"""One call: what has been sent, what has come, how it ended."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from pybernetes.lib.grpc import frames, status
from pybernetes.lib.grpc.status import RpcError, StatusCode

if TYPE_CHECKING:
    from pybernetes.lib.grpc.connection import Connection

_PREFIX = 5  # a flag for compression, and the size of the message in four bytes
_MOST_UNREAD = 100_000  # messages


def window(most_bytes: int) -> int:
    """Return how many bytes a peer may send that nobody has read, if that is the size of the largest message."""
    return min(frames.MOST_WINDOW, most_bytes + _PREFIX)


def framed(message: bytes) -> bytes:
    """Return a message as gRPC sends it."""
    return b"\0" + len(message).to_bytes(4, "big") + message


class Stream:
    """The state of a call, which tells whoever waits when it changes."""

    __slots__ = (
        "_connection", "_credit", "_ended", "_error", "_has_headers", "_message_end", "_messages", "_most_bytes",
        "_most_messages", "_part", "_read", "_waiter", "first", "is_done_sending", "number", "on_end", "unsent", "window",
    )  # fmt: skip

    def __init__(
        self, first: bytes | None, most_bytes: int, *, is_unary: bool, is_done_sending: bool
    ) -> None:
        self.first, self.is_done_sending = first, is_done_sending
        self.unsent = bytearray()
        self.number = self.window = 0
        self._most_bytes, self._most_messages = most_bytes, 1 if is_unary else _MOST_UNREAD
        self._credit = window(most_bytes)
        self._read = 0  # bytes that the peer does not know yet to be read
        self._connection: Connection | None = None
        self._part = bytearray()  # of the message that is arriving
        self._message_end = _PREFIX  # how much of it must be there before it is looked at again
        self._messages: deque[bytes] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._has_headers = self._ended = False
        self._error: RpcError | None = None
        self.on_end: Callable[[Stream], None] | None = None  # called at the end, for who does not wait

    def opened(self, connection: Connection, number: int, window: int) -> None:
        """Belong to a connection."""
        self._connection, self.number, self.window = connection, number, window

    # -- what the connection tells -----------------------------------------------------------------------

    def headers(self, headers: dict[bytes, bytes]) -> None:
        """Look at the headers of the answer."""
        wrong = None if self._has_headers else status.not_grpc(headers)
        self._has_headers = True
        if wrong is not None:
            self._fail(wrong)

    def received(self, data: bytes, flow: int) -> None:
        """Gather messages; ``flow`` is what they took of the window."""
        self._credit -= flow
        if self._credit < 0 or not self._has_headers:
            return self._fail(RpcError(StatusCode.INTERNAL, "data that the peer may not send"))
        if self._part:
            self._part += data
            if len(self._part) < self._message_end:
                return None
            data = bytes(self._part)
            self._part.clear()
        position, end, self._message_end = 0, len(data), _PREFIX
        while end - position >= _PREFIX:
            size = int.from_bytes(data[position + 1 : position + _PREFIX], "big")
            if data[position]:
                return self._fail(RpcError(StatusCode.INTERNAL, "a compressed message that nobody asked for"))
            if size > self._most_bytes:
                details = f"received message larger than max ({size} vs. {self._most_bytes})"
                return self._fail(RpcError(StatusCode.RESOURCE_EXHAUSTED, details))
            after = position + _PREFIX + size
            if after > end:
                self._message_end = _PREFIX + size
                break
            if len(self._messages) >= self._most_messages:
                return self._fail(RpcError(StatusCode.RESOURCE_EXHAUSTED, "more messages than are read"))
            self._messages.append(data[position + _PREFIX : after])
            position = after
            self._wake()
        if position < end:
            self._part += data[position:]
        return None

    def trailers(self, headers: dict[bytes, bytes]) -> None:
        """Take note of how the call ended."""
        error = None if self._has_headers else status.not_grpc(headers)
        self.end(error or status.ending(headers))

    def end(self, error: RpcError | None) -> None:
        """Have the call end; the first end counts."""
        if not self._ended:
            self._ended, self._error = True, error
            self._wake()
            if self.on_end is not None:
                self.on_end(self)

    def _fail(self, error: RpcError) -> None:
        self._messages.clear()
        self._part.clear()
        self.end(error)
        self.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- what the caller does ----------------------------------------------------------------------------

    def cancel(self) -> None:
        """Let the peer know that nobody waits any more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.forget(self.number)

    def send(self, message: bytes) -> None:
        """Send one more message."""
        if self._ended or self._connection is None:
            raise self._error or RpcError(StatusCode.CANCELLED, "the call has ended")
        self.unsent += framed(message)
        self._connection.send(self)

    async def read(self) -> bytes | None:
        """Return the next message; None after the last one; RpcError if the call failed."""
        while not self._messages:
            if self._ended:
                if self._error is not None:
                    raise self._error
                return None
            await self._changed()
        message = self._messages.popleft()
        if self._connection is not None and not self._ended:
            self._read += len(message) + _PREFIX
            if self._read > window(self._most_bytes) // 2:
                self._credit += self._read
                self._connection.consumed(self.number, self._read)
                self._read = 0
        return message

    async def only(self) -> bytes:
        """Return the one message of a call, once the call has ended."""
        while not self._ended:
            await self._changed()
        message, error = self.outcome()
        if error is not None:
            raise error
        return message

    def outcome(self) -> tuple[bytes, RpcError | None]:
        """Return the one message of a call that has ended, or how it failed."""
        error = self._error
        if error is None and not self._messages:
            error = RpcError(StatusCode.INTERNAL, "an answer without a message")
        return (b"", error) if error is not None else (self._messages[0], None)

    def expire(self) -> None:
        """End the call, whose time is up."""
        self.end(RpcError(StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded"))
        self.cancel()

    async def _changed(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
