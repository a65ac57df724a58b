"""Connections that are to become something else: what clients send meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.http.messages import Request
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Answer, Connection
from pybernetes.lib.http.stream import Stream, chunk
from pybernetes.lib.http.upgrade import switching_protocols, upgraded, wanted_protocol
from tests.support import eventually

UPGRADE = b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(application: Callable[[Request], Answer | Awaitable[Answer]]) -> AsyncIterator[Streams]:
    """Yield a connection to a server with an application."""
    server = Server(application)
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        await server.stop()


@pytest.mark.parametrize("at_once", [True, False])
async def test_what_comes_with_the_request_is_the_first_that_is_read(at_once: bool) -> None:
    async def serve(client: Duplex) -> None:
        client.write(await client.read())

    async def later(request: Request) -> Answer:
        await asyncio.sleep(0)
        return upgraded(switching_protocols([]), serve)

    def now(request: Request) -> Answer:
        return upgraded(switching_protocols([]), serve)

    async with connected(now if at_once else later) as (reader, writer):
        writer.write(UPGRADE + b"early")
        assert (await asyncio.wait_for(reader.read(), 60)).endswith(b"\r\n\r\nearly")


async def test_what_comes_before_an_upgrade_is_agreed_on_is_bounded() -> None:
    """A client that pours before it has an answer is read no further."""
    agreed, asked = asyncio.Event(), list[Connection]()

    async def serve(client: Duplex) -> None:
        got = 0
        while got < 64 << 16:
            got += len(await client.read())
        client.write(b"all")

    async def wait(request: Request) -> Answer:
        asked.append(request.connection)
        await agreed.wait()
        return upgraded(switching_protocols([]), serve)

    async with connected(wait) as (reader, writer):
        writer.write(UPGRADE)
        await eventually(lambda: asked)
        kept = 0
        for _ in range(64):
            writer.write(b"x" * 65536)
            await asyncio.sleep(0)
            kept = max(kept, len(asked[0]._leftover))
        assert kept <= 1 << 19
        agreed.set()
        assert (await asyncio.wait_for(reader.read(), 60)).endswith(b"all")


async def test_what_follows_an_upgrade_that_is_none_is_dropped() -> None:
    """A watch that is asked to become something else stays a watch, and keeps nothing of what comes."""
    opened: list[Any] = []

    async def watch(request: Request) -> Answer:
        opened.extend((Stream(), request.connection))
        return opened[0]

    async with connected(watch) as (reader, writer):
        writer.write(UPGRADE)
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
        for _ in range(16):
            writer.write(b"x" * 65536)
            await asyncio.wait_for(writer.drain(), 60)
        stream, connection = opened
        stream.write(chunk(b"event"))
        assert await asyncio.wait_for(reader.readuntil(b"event"), 60)
        assert not connection._leftover
        writer.close()
        await eventually(lambda: stream.closed)


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({}, b""),
        ({b"upgrade": b"x"}, b""),
        ({b"connection": b"upgrade"}, b""),
        ({b"connection": b"keep-alive", b"upgrade": b"x"}, b""),
        ({b"connection": b"keep-alive , Upgrade", b"upgrade": b"x"}, b"x"),
    ],
)
def test_which_protocol_is_wanted(headers: dict[bytes, bytes], wanted: bytes) -> None:
    assert wanted_protocol(headers) == wanted
