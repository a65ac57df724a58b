"""What our servers refuse, and what looks like it and is fine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import TEXT, Request, Response
from pybernetes.lib.http.server import Server
from tests.lib.http.malformed_requests import check

QUICK = Limits(linger_seconds=1)


@asynccontextmanager
async def echoing() -> AsyncIterator[int]:
    """Yield a server that says what it read."""

    def echo(request: Request) -> Response:
        headers = sorted(name for name in request.headers if name != b"host")
        text = b"%b %b %b" % (request.method.encode(), request.body, b",".join(headers))
        return Response(text, content_type=TEXT)

    server = Server(echo, limits=QUICK)
    port = await server.start("127.0.0.1", 0)
    try:
        yield port
    finally:
        await server.stop()


async def test_malformed_requests() -> None:
    async with echoing() as port:
        await check(port)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET  "),
        (b"GET / HTTP/1.0\r\n\r\n", b"GET  "),
        (b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET  "),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX:\r\nX: b\r\n\r\n", b"GET  x"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2 \r\n\r\nab", b"POST ab content-length"),
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked \r\n\r\n1;e=f\r\na\r\n0\r\n\r\n",
            b"POST a transfer-encoding",
        ),
        # What follows a body is no header, whatever it is called.
        (
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"1\r\na\r\n0\r\nAuthorization: Bearer b\r\nHost: c\r\n\r\n",
            b"POST a transfer-encoding",
        ),
    ],
)
async def test_what_is_fine(request_: bytes, answer: bytes) -> None:
    async with echoing() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request_)
        async with asyncio.timeout(30):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(len(answer)) == answer
        writer.close()


async def test_headers_that_come_often_are_kept_one_by_one() -> None:
    values: list[list[str]] = []

    def note(request: Request) -> Response:
        values.append(request.values(b"x-remote-group"))
        return Response(b"")

    server = Server(note)
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    groups = [f"group-{number}" for number in range(900)]
    lines = "".join(f"X-Remote-Group: {group}\r\n" for group in groups)
    writer.write(f"GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await server.stop()
    assert values == [groups]
