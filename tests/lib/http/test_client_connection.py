"""Answers as a client reads them: where they end, and which are none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from pybernetes.lib.http.client_connection import BadReply, ClientConnection, Disconnected, request_bytes
from pybernetes.lib.http.dialer import direct

GET = request_bytes("GET", "/", [(b"Host", b"a")])


@asynccontextmanager
async def answering(*answers: bytes, close: bool = False, **options: Any) -> AsyncIterator[ClientConnection]:
    """Yield a connection to a server that gives one answer after the other, and then closes if it should."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for answer in answers:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(answer)
            if not close:
                await reader.read()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection = await direct(partial(ClientConnection, **options), "127.0.0.1", port)
    try:
        async with asyncio.timeout(30):
            yield connection
    finally:
        connection.close()
        server.close()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("answer", "status", "body", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", True),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, b"ok", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, b"", True),
        (
            b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            200,
            b"ok",
            True,
        ),
    ],
)
async def test_answers(answer: bytes, status: int, body: bytes, reusable: bool, whole: bool) -> None:
    async with answering(answer) as connection:
        if whole:
            reply = await connection.request(GET)
            text = reply.body
        else:
            reply = await connection.open(GET)
            text = await connection.read_all()
        assert (reply.status, text, connection.reusable) == (status, body, reusable)
        assert b"a" not in reply.headers


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
async def test_an_answer_that_ends_with_its_connection(version: bytes, whole: bool) -> None:
    answer = b"HTTP/%b 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it" % version
    async with answering(answer, close=True) as connection:
        if whole:
            assert (await connection.request(GET)).body == b"all of it"
        else:
            await connection.open(GET)
            assert await connection.read_all() == b"all of it"
        assert not connection.reusable


@pytest.mark.parametrize(
    ("answer", "begun"),
    [
        (b"", False),
        (b"HTTP/1.1 200 OK\r\nContent-Le", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", True),
        (b"HTTP/1.1 100 Continue\r\n\r\n", False),
    ],
)
async def test_an_answer_that_is_cut_off(answer: bytes, begun: bool) -> None:
    async with answering(answer, close=True) as connection:
        with pytest.raises(Disconnected) as problem:
            await connection.request(GET)
        assert problem.value.begun is begun


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 2_000_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"a" * 2000,
    ],
)
async def test_answers_that_are_none(answer: bytes) -> None:
    async with answering(answer, limit=1000) as connection:
        with pytest.raises(Disconnected):
            await connection.request(GET)
        assert isinstance(connection.error, BadReply)


async def test_trailers_are_no_headers() -> None:
    answer = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nLocation: /elsewhere\r\n\r\n"
    )
    async with answering(answer) as connection:
        assert b"location" not in (await connection.request(GET)).headers


async def test_a_lenient_client_takes_what_others_wrote_by_hand() -> None:
    async with answering(b"HTTP/1.1 200 OK\n\nfine", close=True, lenient=True) as connection:
        reply = await connection.request(GET)
        assert (reply.status, reply.body) == (200, b"fine")


async def test_head_has_no_body() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    async with answering(answer, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") as connection:
        reply = await connection.request(request_bytes("HEAD", "/", [(b"Host", b"a")]))
        assert (reply.status, reply.body, connection.reusable) == (200, b"", True)
        assert (await connection.request(GET)).body == b"ok"


async def test_upgrade() -> None:
    async with answering(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nearly"
    ) as raw:
        reply = await raw.open(request_bytes("GET", "/", [(b"Connection", b"Upgrade"), (b"Upgrade", b"x")]))
        assert reply.status == 101 and await raw.read() == b"early"
        assert not raw.reusable


@pytest.mark.parametrize("value", [b"a\r\nX: b", b"a\nb", b"a\rb"])
def test_a_header_cannot_hold_another_one(value: bytes) -> None:
    with pytest.raises(ValueError, match="end of a line"):
        request_bytes("GET", "/", [(b"A", value)])
    with pytest.raises(ValueError, match="end of a line"):
        request_bytes("GET", "/" + value.decode(), [])


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 100 Continue\r\nx: ",
                                   b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx: ",
                                   b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1;x="])  # fmt: skip
@pytest.mark.parametrize("whole", [True, False])
async def test_heads_trailers_and_extensions_have_a_bound(begin: bytes, whole: bool) -> None:
    """A server that never comes to the point is given up, although it goes on."""
    async with answering(begin + b"a" * (2 << 20)) as connection:
        with pytest.raises(Disconnected, match="too large"):
            if whole:
                await connection.request(GET)
            else:
                await connection.open(GET)
                await connection.read_all()
        assert isinstance(connection.error, BadReply)
