"""Clients that send too much, too slowly, out of turn or nonsense."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

import pytest

from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.stream import Stream, chunk
from pybernetes.lib.http.upgrade import Upgrade, upgraded
from tests.lib.http.services import GET, QUICK, Watches, echo, run
from tests.support import eventually


@pytest.mark.parametrize(
    ("request_", "status", "text"),
    [
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n" + b"x" * 4_000_000,
            413,
            "limit is 3145728",
        ),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"x" * 65536) * 60,
            413,
            "limit is 3145728",
        ),
        (b"GET / HTTP/1.1\r\n" + b"X: %b\r\n" % (b"y" * 60_000) * 20 + b"\r\n", 431, "headers are too large"),
        (b"GET /" + b"y" * 1_200_000 + b" HTTP/1.1\r\n\r\n", 414, "target is too long"),
        (b"nonsense\r\n\r\n", 400, ""),
        (b"GET / HTTP/9.9\r\n\r\n", 400, ""),
        (b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400, ""),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, ""),
        (b"GET / HTTP/1.1\r\nA: b\x00c\r\n\r\n", 400, ""),
    ],
)
def test_what_cannot_be_read_is_refused(serve: Any, request_: bytes, status: int, text: str) -> None:
    """The answer is of the server's own making, and it arrives although the client is still sending."""

    async def test() -> None:
        async with serve(echo, replace(QUICK, head_seconds=30, receive_seconds=30)) as service:
            client = await service.connect()
            client.send(request_)
            got, body = await client.answer()
            answer = json.loads(body)
            assert (got, answer["code"]) == (status, status)
            assert text in answer["message"]
            assert await client.ended() == b""

    run(test())


def test_a_body_in_small_pieces(serve: Any) -> None:
    """A megabyte of small chunks takes no more than its share of time."""

    async def test() -> None:
        async with serve(echo, replace(QUICK, head_seconds=30, receive_seconds=30)) as service:
            client = await service.connect()
            client.send(b"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            client.send(chunk(b"x" * 8) * 125_000 + b"0\r\n\r\n")
            assert await client.answer() == (200, b"POST /p 1000000")

    run(test())


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost:",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12",
    ],
    ids=["nothing", "request-line", "header", "body"],
)
def test_a_slow_client_is_dropped(serve: Any, start: bytes) -> None:
    async def test() -> None:
        async with serve(echo) as service:
            client = await service.connect()
            client.send(start)
            assert await client.ended() == b""
            client.writer.close()
            while service.server.connections:
                await asyncio.sleep(0)

    run(test())


def test_a_client_that_sends_byte_by_byte_gains_no_time(serve: Any) -> None:
    async def test() -> None:
        async with serve(echo) as service:
            client = await service.connect()
            ended = asyncio.ensure_future(client.ended())
            for byte in b"GET / HTTP/1.1\r\n" + b"Header: value\r\n" * 20:
                client.send(bytes([byte]))
                await asyncio.wait([ended], timeout=0.02)
                if ended.done():
                    break
            assert ended.done() and ended.result() == b""

    run(test())


def test_pipelined_requests_are_answered_in_order(serve: Any) -> None:
    async def later(request: Request) -> Response:
        for _ in range(10):  # others have their turn meanwhile
            await asyncio.sleep(0)
        return echo(request)

    def mixed(request: Request) -> Response | Awaitable[Response]:
        return later(request) if request.path.endswith("0") else echo(request)

    async def test() -> None:
        async with serve(mixed, Limits()) as service:
            client = await service.connect()
            client.send(b"".join(GET % f"/{number}".encode() for number in range(100)) + b"junk\r\n\r\n")
            for number in range(100):
                assert await client.answer() == (200, f"GET /{number} 0".encode())
            status, _ = await client.answer()
            assert status == 400

    run(test())


def test_a_client_that_takes_no_answers_is_read_no_further(serve: Any) -> None:
    """What waits for a client is bounded, and so is the time that it waits."""
    calls = 0

    def large(request: Request) -> Response:
        nonlocal calls
        calls += 1
        return Response(b"x" * 2_000_000)

    async def test() -> None:
        async with serve(large) as service:
            client = await service.connect(limit=1024)
            client.send(GET % b"/" * 3000)
            while not calls:
                await asyncio.sleep(0)
            while service.server.connections:
                waiting = [
                    connection.transport.get_write_buffer_size() for connection in service.server.connections
                ]
                assert sum(waiting) < 16_000_000
                await asyncio.sleep(0)
            assert 1 <= calls < 50
            client.writer.transport.abort()

    run(test())


def test_head_and_requests_after_it(serve: Any) -> None:
    async def test() -> None:
        async with serve(echo, Limits()) as service:
            client = await service.connect()
            client.send(b"HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n" + GET % b"/b")
            head = await client.reader.readuntil(b"\r\n\r\n")
            assert b"Content-Length: 9\r\n" in head
            assert await client.answer() == (200, b"GET /b 0")

    run(test())


def test_drain(serve: Any) -> None:
    """Streams end in good order, requests under way are answered, idle connections close."""
    go_on = asyncio.Event()

    async def later(request: Request) -> Response:
        await go_on.wait()
        return echo(request)

    watches = Watches()

    def mixed(request: Request) -> Any:
        return watches(request) if request.path == "/watch" else later(request)

    async def test() -> None:
        async with serve(mixed, Limits()) as service:
            watching, waiting, idle = [await service.connect() for _ in range(3)]
            watching.send(GET % b"/watch")
            waiting.send(GET % b"/wait")
            await watching.reader.readuntil(b"\r\n\r\n")
            while len(service.server.connections) < 3 or not any(
                connection.is_busy for connection in service.server.connections
            ):
                await asyncio.sleep(0)
            draining = asyncio.ensure_future(service.server.drain(10))
            assert await watching.ended() == b"0\r\n\r\n" and watches.closed == 1
            assert await idle.ended() == b"" and not draining.done()
            go_on.set()
            assert await waiting.answer() == (200, b"GET /wait 0")
            assert await waiting.ended() == b""
            await draining
            with pytest.raises(OSError):
                await service.connect()

    run(test())


@pytest.mark.parametrize("answer", [Response(b"no"), None])
def test_who_wants_another_protocol_and_gets_none_is_not_listened_to(
    serve: Any, answer: Response | None
) -> None:
    """What follows is neither kept nor read: it could be of either protocol. A stream ends with too much of it."""
    seen: list[str] = []

    def refuse(request: Request) -> Response | Stream:
        seen.append(request.path)
        return answer or Stream()

    async def test() -> None:
        async with serve(refuse, Limits(body=300_000)) as service:
            client = await service.connect()
            client.send(b"GET /w HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
            client.send((GET % b"/smuggled") * 50_000)
            await client.ended()
            assert seen == ["/w"]

    run(test())


def test_what_comes_before_an_upgrade_is_bounded(serve: Any) -> None:
    """Until it is clear who takes the connection over, no more than a little is read; nothing of it is lost."""
    got = bytearray()
    ready = asyncio.Event()
    kept: list[int] = []

    async def take(client: Duplex) -> None:
        while len(got) < 3_000_000:
            got.extend(await client.read())

    async def decide(request: Request) -> Upgrade:
        connection = request.connection
        await eventually(lambda: connection._paused)
        await ready.wait()
        kept.append(len(connection._leftover))
        return upgraded(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", take)

    async def test() -> None:
        async with serve(decide, Limits()) as service:
            client = await service.connect()
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
            client.send(b"0123456789" * 300_000)
            ready.set()
            await client.ended()
            assert bytes(got) == b"0123456789" * 300_000
            assert 64 * 1024 < kept[0] < 1_000_000

    run(test())


def test_pipelined_requests_are_read_only_so_far(serve: Any) -> None:
    """Thousands of requests in one packet are not made into as many objects at once."""
    longest = 0

    async def slow(request: Request) -> Response:
        nonlocal longest
        longest = max(longest, len(request.connection._queue))
        await asyncio.sleep(0)
        return Response(b"")

    async def test() -> None:
        async with serve(slow, Limits()) as service:
            client = await service.connect()
            client.send((GET % b"/") * 5000)
            for _ in range(5000):
                assert (await client.answer())[0] == 200
            assert 0 < longest <= Limits().pipeline + 1

    run(test())


@pytest.mark.parametrize("pipelined", [False, True])
def test_requests_without_an_answer_have_a_bound(serve: Any, pipelined: bool) -> None:
    """Those that do not end, and those that wait for the one before them: who began first goes."""
    body = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + bytes(990_000)

    async def never(request: Request) -> Response:
        if request.path == "/never":
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        return Response(b"%d" % len(request.body))

    async def test() -> None:
        async with serve(never, Limits(unanswered=5_000_000)) as service:
            clients = []
            unanswered = service.server.unanswered
            for _ in range(9):
                clients.append(await service.connect())
                clients[-1].send(GET % b"/never" + body + bytes(10_000) + body if pipelined else body)
                await eventually(
                    lambda: unanswered.size + unanswered.ended * 990_000 > len(clients) * 950_000
                )
            await eventually(lambda: unanswered.ended >= (6 if pipelined else 4))
            assert unanswered.size < 5_100_000
            assert await clients[0].ended() == b""
            if not pipelined:
                clients[-1].send(bytes(10_000))
                assert await clients[-1].answer() == (200, b"1000000")
            for client in clients:
                client.writer.transport.abort()
            await eventually(lambda: not service.server.connections)
            assert unanswered.size == 0

    run(test())
