"""Calls to one server, over one connection that is made when it is needed and made again when it is gone.

``docs/http.md`` has the picture. Stubs that protobuf's compiler made take a ``Channel`` in place of grpcio's.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from pybernetes.lib.grpc import header_blocks
from pybernetes.lib.grpc.connection import Connection
from pybernetes.lib.grpc.status import RpcError, StatusCode
from pybernetes.lib.grpc.stream import Stream, framed
from pybernetes.lib.http.dialer import Dialer, direct

__all__ = ["Channel", "RpcError", "StatusCode", "StreamCall"]

MOST_BYTES = 16 << 20
_AGAIN_SECONDS = 0.1
_Serializer = Callable[[Any], bytes]
_Metadata = Iterable[tuple[str, str]]


class Channel:
    """A server at ``host:port``, ``unix:///path`` or ``unix-abstract:name``; with a context, over TLS."""

    def __init__(
        self,
        address: str,
        *,
        context: ssl.SSLContext | None = None,
        most_bytes: int = MOST_BYTES,
        pings: bool = False,
        dial: Dialer = direct,
    ) -> None:
        self.address, self.most_bytes = address, most_bytes
        self._context, self._pings, self._dialer = context, pings, dial
        if context is not None:
            context.set_alpn_protocols(["h2"])
        self._path, self._host, self._port = "", "", 0
        if address.startswith("unix-abstract:"):
            self._path = "\0" + address.removeprefix("unix-abstract:")
            self._authority = "localhost"
        elif address.startswith("unix:"):
            self._path = address.removeprefix("unix:").replace("///", "/", 1)
            self._authority = "localhost"
        else:
            host, _, port = address.rpartition(":")
            if not host or not port.isdigit():
                raise ValueError(f"{address!r} must look like host:port or unix:///path")
            self._host, self._port = host.strip("[]"), int(port)
            self._authority = address
        self._connection: Connection | None = None
        self._dialing: asyncio.Task[None] | None = None
        self._is_closed = False

    def unary_unary(
        self,
        path: str,
        request_serializer: _Serializer,
        response_deserializer: Callable[[bytes], Any],
        **_: Any,
    ) -> UnaryMethod:
        """Return a method with one message each way."""
        return UnaryMethod(self, path, request_serializer, response_deserializer)

    def unary_stream(
        self,
        path: str,
        request_serializer: _Serializer,
        response_deserializer: Callable[[bytes], Any],
        **_: Any,
    ) -> Callable[..., StreamCall]:
        """Return a method that answers one message with many."""

        def begin(request: Any, *, metadata: _Metadata = ()) -> StreamCall:
            first = framed(request_serializer(request))
            return StreamCall(self, path, first, metadata, request_serializer, response_deserializer)

        return begin

    def stream_stream(
        self,
        path: str,
        request_serializer: _Serializer,
        response_deserializer: Callable[[bytes], Any],
        **_: Any,
    ) -> Callable[..., StreamCall]:
        """Return a method with many messages each way."""

        def begin(*, metadata: _Metadata = ()) -> StreamCall:
            return StreamCall(self, path, None, metadata, request_serializer, response_deserializer)

        return begin

    async def close(self) -> None:
        """End the connection and the calls on it."""
        self._is_closed = True
        if self._dialing is not None:
            self._dialing.cancel()
            await asyncio.gather(self._dialing, return_exceptions=True)
        if self._connection is not None:
            self._connection.close("the channel is closed")

    def begin(self, path: str, stream: Stream, seconds: float | None, metadata: _Metadata) -> bool:
        """Begin a call if that can be done at once."""
        connection = self._connection
        if connection is None or not connection.is_usable or not connection.has_room:
            return False
        # Whole seconds, so that the headers of calls are alike; our own clock ends them in time.
        allowed = None if seconds is None else max(1, math.ceil(seconds))
        secure = self._context is not None
        block = header_blocks.request(path, self._authority, secure, allowed, tuple(metadata))
        connection.begin(block, stream)
        return True

    async def ready(self) -> None:
        """Wait until a call can be begun; RpcError if there is no connection."""
        if self._is_closed:
            raise RpcError(StatusCode.CANCELLED, "the channel is closed")
        connection = self._connection
        if connection is not None and connection.is_usable:
            await connection.room()
            return
        if self._dialing is None:
            self._dialing = asyncio.get_running_loop().create_task(self._dial(), name=f"dial {self.address}")
        dialing = self._dialing
        try:
            await asyncio.shield(dialing)
        except asyncio.CancelledError:
            if dialing.cancelled():
                raise RpcError(StatusCode.CANCELLED, "the channel is closed") from None
            raise
        except OSError as error:
            details = f"failed to connect to {self.address}: {error.strerror or error}"
            raise RpcError(StatusCode.UNAVAILABLE, details) from None

    async def _dial(self) -> None:
        # Before the task has ended, and not because it has: who waits for it would find neither of the two until then.
        try:
            self._connection = await self._connected()
        finally:
            self._dialing = None

    async def _connected(self) -> Connection:
        def made() -> Connection:
            return Connection(self.most_bytes, self._pings, self._lost)

        if self._path:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_unix_connection(made, self._path)
        else:
            name = self._host if self._context is not None else None
            connection = await self._dialer(
                made, self._host, self._port, context=self._context, server_name=name
            )
        if self._context is not None and connection.protocol != "h2":
            connection.close("the server does not speak HTTP/2")
            raise ConnectionError("the server does not speak HTTP/2")
        return connection

    def _lost(self, connection: Connection) -> None:
        if self._connection is connection:
            self._connection = None


class UnaryMethod:
    """A method with one message each way."""

    def __init__(
        self, channel: Channel, path: str, serialize: _Serializer, deserialize: Callable[[bytes], Any]
    ) -> None:
        self._channel, self.path = channel, path
        self._serialize, self._deserialize = serialize, deserialize

    def begin(self, message: bytes, timeout: float, ended: Callable[[Stream], None]) -> Stream | None:
        """Begin a call with a message that is serialized, if that can be done at once; ``ended`` is called at its end.

        Nothing ends it when its time is up but whoever began it.
        """
        channel = self._channel
        stream = Stream(framed(message), channel.most_bytes, is_unary=True, is_done_sending=True)
        stream.on_end = ended
        return stream if channel.begin(self.path, stream, timeout, ()) else None

    async def __call__(
        self,
        request: Any,
        *,
        timeout: float | None = None,
        metadata: _Metadata = (),
        wait_for_ready: bool = False,
    ) -> Any:
        """Return the answer; RpcError if there is none. With ``wait_for_ready`` a server that is not there is waited for."""
        channel = self._channel
        stream = Stream(
            framed(self._serialize(request)), channel.most_bytes, is_unary=True, is_done_sending=True
        )
        timer = None
        if timeout is not None:
            timer = asyncio.get_running_loop().call_later(max(0.0, timeout), stream.expire)
        try:
            if not channel.begin(self.path, stream, timeout, metadata):
                await self._begin(stream, timeout, metadata, wait_for_ready)
            answer = await stream.only()
        except BaseException:
            stream.cancel()
            raise
        finally:
            if timer is not None:
                timer.cancel()
        try:
            return self._deserialize(answer)
        except Exception as error:
            raise RpcError(StatusCode.INTERNAL, f"the answer cannot be read: {error}") from None

    async def _begin(
        self, stream: Stream, timeout: float | None, metadata: _Metadata, wait_for_ready: bool
    ) -> None:
        try:
            async with asyncio.timeout(timeout):
                while not self._channel.begin(self.path, stream, timeout, metadata):
                    try:
                        await self._channel.ready()
                    except RpcError as error:
                        if not wait_for_ready or error.code is not StatusCode.UNAVAILABLE:
                            raise
                        await asyncio.sleep(_AGAIN_SECONDS)
        except TimeoutError:
            raise RpcError(StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded") from None


class StreamCall:
    """A call with many messages; it begins with the first one that is written or waited for."""

    def __init__(
        self,
        channel: Channel,
        path: str,
        first: bytes | None,
        metadata: _Metadata,
        serialize: _Serializer,
        deserialize: Callable[[bytes], Any],
    ) -> None:
        self._channel, self._path, self._metadata = channel, path, metadata
        self._serialize, self._deserialize = serialize, deserialize
        self._stream = Stream(first, channel.most_bytes, is_unary=False, is_done_sending=first is not None)
        self._is_begun = False

    async def _begin(self) -> Stream:
        while not self._is_begun:
            self._is_begun = self._channel.begin(self._path, self._stream, None, self._metadata)
            if not self._is_begun:
                await self._channel.ready()
        return self._stream

    async def write(self, message: Any) -> None:
        """Send one message."""
        (await self._begin()).send(self._serialize(message))

    async def read(self) -> Any:
        """Return the next message; None after the last one; RpcError if the call failed."""
        message = await (await self._begin()).read()
        return None if message is None else self._deserialize(message)

    async def __aiter__(self) -> AsyncIterator[Any]:
        while (message := await self.read()) is not None:
            yield message

    def cancel(self) -> None:
        """End the call; whoever reads gets CANCELLED."""
        self._is_begun = True
        self._stream.end(RpcError(StatusCode.CANCELLED, "the call was cancelled"))
        self._stream.cancel()
