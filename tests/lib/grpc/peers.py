"""Who the client talks to in these tests: a server of grpcio, and one that sends the bytes it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio

from pybernetes.lib.grpc import frames
from pybernetes.lib.grpc.channel import Channel

Script = Callable[[frames.Frame, Callable[[bytes], None]], None]


def raw(data: bytes) -> bytes:
    """Serialize nothing: messages are bytes here."""
    return data


class Echo:
    """Methods of a service that answers with what it is asked."""

    def __init__(self) -> None:
        self.metadata: list[tuple[str, str]] = []
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()

    async def echo(self, request: bytes, context: Any) -> bytes:
        """Return the question."""
        self.metadata = list(context.invocation_metadata())
        return request

    async def fail(self, request: bytes, context: Any) -> bytes:
        """Refuse in words that need escapes."""
        await context.abort(grpc.StatusCode.NOT_FOUND, "no such thing: ü % ☂")
        return b""

    async def hang(self, request: bytes, context: Any) -> bytes:
        """Answer never, and note when the caller has gone."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        return b""

    async def count(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        """Return many messages of a size."""
        number, size = map(int, request.split())
        for position in range(number):
            yield (b"%d" % position).ljust(size, b".")

    async def talk(self, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        """Answer each message."""
        async for request in requests:
            yield request.upper()


@asynccontextmanager
async def grpcio_server(address: str, credentials: Any = None) -> AsyncIterator[tuple[Echo, int]]:
    """Yield the service of a server, and its port."""
    service, server = Echo(), grpc.aio.server(options=[("grpc.max_receive_message_length", -1)])
    handlers = {
        "Echo": grpc.unary_unary_rpc_method_handler(service.echo),
        "Fail": grpc.unary_unary_rpc_method_handler(service.fail),
        "Hang": grpc.unary_unary_rpc_method_handler(service.hang),
        "Count": grpc.unary_stream_rpc_method_handler(service.count),
        "Talk": grpc.stream_stream_rpc_method_handler(service.talk),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Service", handlers),))
    port = (
        server.add_insecure_port(address)
        if credentials is None
        else server.add_secure_port(address, credentials)
    )
    await server.start()
    try:
        yield service, port
    finally:
        await server.stop(0)


def unary(channel: Channel, method: str) -> Any:
    """Return a method with one message each way."""
    return channel.unary_unary(f"/test.Service/{method}", raw, raw)


@asynccontextmanager
async def scripted_server(script: Script) -> AsyncIterator[int]:
    """Yield the port of a server that answers each frame as the script says."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frame_reader = frames.FrameReader()
        try:
            await reader.readexactly(len(frames.PREFACE))
            writer.write(frames.settings({}))
            while data := await reader.read(65536):
                for frame in frame_reader.feed(data):
                    script(frame, writer.write)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
