"""Connections whose clients go away, say nothing, or have to make room for others; and what is left of them: nothing."""

from __future__ import annotations

import asyncio
import gc
import socket
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.stream import Stream, chunk
from tests.lib.http.services import GET, QUICK, Client, echo, run
from tests.support import eventually


def _hang_up(client: Client) -> None:
    client.writer.transport.abort()


def _say_goodbye(client: Client) -> None:
    client.writer.close()


def _half_close(client: Client) -> None:
    with socket.fromfd(
        client.writer.get_extra_info("socket").fileno(), socket.AF_INET, socket.SOCK_STREAM
    ) as raw:
        raw.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("leave", [_hang_up, _say_goodbye, _half_close])
@pytest.mark.parametrize("first", [b"", b"x" * 4_000_000], ids=["all-is-read", "much-is-unread"])
def test_connections_of_streams_go_with_their_clients(
    serve: Any, leave: Callable[[Client], None], first: bytes
) -> None:
    """Not when garbage is collected: each took 200 kB, and what has lived for long is hardly ever looked at."""
    alive: weakref.WeakSet[Any] = weakref.WeakSet()

    class Watching:
        """What opens a stream knows it, and is called by it."""

        def __init__(self) -> None:
            self.stream = Stream()
            self.stream.on_open, self.stream.on_close = self._begin, self._end
            alive.add(self.stream)

        def _begin(self) -> None:
            self.stream.write(chunk(b"open" + first))

        def _end(self) -> None:
            pass

    def answer(request: Request) -> Stream:
        alive.add(request.connection)
        return Watching().stream

    async def test() -> None:
        async with serve(answer, replace(Limits(), stall_seconds=1)) as service:
            client = await service.connect(limit=1024)
            client.send(GET % b"/")
            await client.reader.readuntil(b"open")
            assert len(alive) == 2
            leave(client)
            await eventually(lambda: not alive)
            client.writer.transport.abort()

    gc.disable()
    try:
        run(test())
    finally:
        gc.enable()


def test_requests_go_with_their_connection(serve: Any) -> None:
    """Not when garbage is collected: ten clients that hung up left a gigabyte of bodies."""
    alive: weakref.WeakSet[Request] = weakref.WeakSet()

    class Kept(Request):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            alive.add(self)

    async def never(request: Request) -> Response:
        await asyncio.Event().wait()
        return Response(b"")

    async def test() -> None:
        async with serve(never, Limits()) as service:
            service.server.request_class = Kept
            client = await service.connect()
            client.send(GET % b"/" * 5)
            await eventually(lambda: len(alive) == 5)
            client.writer.transport.abort()
            await eventually(lambda: not alive)

    gc.disable()
    try:
        run(test())
    finally:
        gc.enable()


def test_a_full_server_takes_new_clients_for_idle_ones(serve: Any) -> None:
    """Who holds connections and says nothing keeps nobody out; a request under way is not ended for that."""
    hold = asyncio.Event()

    async def wait(request: Request) -> Response:
        if request.path == "/wait":
            await hold.wait()
        return Response(b"done")

    async def test() -> None:
        async with serve(wait, Limits(connections=5, head_seconds=3)) as service:
            busy = await service.connect()
            busy.send(GET % b"/wait")
            await eventually(lambda: any(connection.is_busy for connection in service.server.connections))
            silent = [await service.connect() for _ in range(20)]
            for _ in range(20):
                other = await service.connect()
                other.send(GET % b"/")
                assert await other.answer() == (200, b"done")
                assert len(service.server.connections) <= 5
            hold.set()
            assert await busy.answer() == (200, b"done")
            assert [await client.ended() for client in silent] == [b""] * 20

    run(test())


def test_a_client_that_says_nothing_goes(serve: Any) -> None:
    async def test() -> None:
        async with serve(echo, Limits(head_seconds=0.3)) as service:
            client = await service.connect()
            assert await client.ended() == b""

    run(test())


def test_what_was_refused_is_not_kept(serve: Any) -> None:
    """A refused client is listened to for a while: of what it sent nothing is left, and nothing at all once it is gone."""
    request = b"GET /%b HTTP/1.1\r\nHost: a\r\n" % (b"p" * 1000) + b"X: %b\r\n" % (b"y" * 1000) * 900

    async def test() -> None:
        async with serve(echo, replace(QUICK, linger_seconds=3600)) as service:
            client = await service.connect()
            client.send(request + b"\r\n")
            got, _ = await client.answer()
            assert got == 431
            left = weakref.ref(*service.server.connections)
            parts = ("_headers", "_repeated", "_head", "_target", "_body")
            await eventually(lambda: not any(getattr(left(), part) for part in parts))
            client.writer.transport.abort()
            await eventually(lambda: not service.server.connections)
            gc.collect()
            await eventually(lambda: left() is None)

    run(test())
