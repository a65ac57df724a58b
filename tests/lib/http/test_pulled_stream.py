"""Responses that are pulled: no faster than the client takes them, and broken ones look broken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from pybernetes.lib.http.messages import Request
from pybernetes.lib.http.pulled_stream import PulledStream
from pybernetes.lib.http.server import Server

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@asynccontextmanager
async def serving(
    body: Callable[[], AsyncIterator[bytes]],
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    def application(request: Request) -> PulledStream:
        return PulledStream(body())

    server = Server(application)
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    try:
        async with asyncio.timeout(30):
            yield reader, writer
    finally:
        writer.transport.abort()
        await server.stop()


async def test_a_body_and_the_request_after_it() -> None:
    async def body() -> AsyncIterator[bytes]:
        for piece in (b"one", b"", b"two"):
            yield piece

    async with serving(body) as (reader, writer):
        for _ in range(2):
            writer.write(GET)
            await reader.readuntil(b"\r\n\r\n")
            assert await reader.readuntil(b"0\r\n\r\n") == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
        writer.write(b"HEAD" + GET[3:] + GET)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")


async def test_a_slow_client_slows_the_source() -> None:
    pulled = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal pulled
        while pulled < 1000:
            pulled += 1
            yield b"x" * 100_000

    async with serving(body) as (reader, writer):
        writer.write(GET)
        await reader.readuntil(b"\r\n\r\n")
        before = -1
        while before != pulled:  # until no more is pulled
            before = pulled
            for _ in range(100):
                await asyncio.sleep(0)
        assert pulled < 200
        while pulled < 1000:
            await reader.read(1 << 20)


async def test_a_broken_body_looks_broken() -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"part"
        raise ValueError("no more")

    async with serving(body) as (reader, writer):
        writer.write(GET)
        try:
            text = await reader.read()
        except ConnectionResetError:
            text = b""
        assert not text.endswith(b"0\r\n\r\n")


async def test_a_client_that_leaves_ends_the_source() -> None:
    ended = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        try:
            yield b"first"
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    async with serving(body) as (reader, writer):
        writer.write(GET)
        await reader.readuntil(b"first")
        writer.transport.abort()
        await ended.wait()


async def test_a_server_that_goes_away_breaks_off() -> None:
    """What comes to its end in time is whole; what does not looks broken."""

    async def short() -> AsyncIterator[bytes]:
        yield b"one"
        await going.wait()
        yield b"two"

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"line"
            await asyncio.sleep(0)

    for body, whole in ((short, True), (endless, False)):
        going = asyncio.Event()
        server = Server(lambda request, body=body: PulledStream(body()))  # type: ignore[misc]
        port = await server.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET)
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(3)
        draining = asyncio.create_task(server.drain(50))
        await asyncio.sleep(0)
        going.set()
        got = b""
        with suppress(ConnectionError):
            while more := await asyncio.wait_for(reader.read(65536), 30):
                got += more
        assert got.endswith(b"0\r\n\r\n") == whole
        await asyncio.wait_for(draining, 30)
        writer.close()
