"""What our servers refuse, and what looks like it and is fine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import TEXT, Request, Response
from pybernetes.lib.http.request_parser import RequestParser
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Application
from tests.lib.http.malformed_requests import check

QUICK = Limits(linger_seconds=1)


@asynccontextmanager
async def echoing() -> AsyncIterator[int]:
    """Yield a server that says what it read."""

    def echo(request: Request) -> Response:
        headers = sorted(name for name in request.headers if name != b"host")
        text = b"%b %b %b" % (request.method.encode(), request.body, b",".join(headers))
        return Response(text, content_type=TEXT)

    async with serving(echo) as port:
        yield port


async def test_malformed_requests() -> None:
    """CVE-2019-16276 and everything else that two readers could read differently."""
    async with echoing() as port:
        await check(port)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET  "),
        (b"GET / HTTP/1.0\r\n\r\n", b"GET  "),
        (b"GET /a%2Fb%20c/../d//e HTTP/1.1\r\nHost: a\r\n\r\n", b"GET  "),
        (b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", b"OPTIONS  "),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: ä\r\n\r\n".encode(), b"GET  x"),
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


TARGETS: list[tuple[bytes, str, str, str]] = [
    (b"/a%2Fb%00c", "/a/b\0c", "", "a"),
    (b"//a/./../b?c=%zz", "//a/./../b", "c=%zz", "a"),
    (b"http://b:80/c?d=e", "/c", "d=e", "b:80"),
    (b"HTTPS://b", "/", "", "b"),
    (b"http://b?c", "/", "c", "b"),
]


@pytest.mark.parametrize(("target", "path", "query", "host"), TARGETS)
async def test_targets(target: bytes, path: str, query: str, host: str) -> None:
    """A target is read as Go reads it: escapes undone, segments left as they are, another host taken from it."""
    seen: list[tuple[str, str, str]] = []

    def note(request: Request) -> Response:
        seen.append((request.path, request.query_text, request.header(b"host")))
        return Response(b"")

    async with serving(note) as port:
        assert (
            await exchanged(port, b"GET %b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % target)
        ).startswith(b"HTTP/1.1 200 ")
    assert seen == [(path, query, host)]


@asynccontextmanager
async def serving(application: Application, limits: Limits = QUICK) -> AsyncIterator[int]:
    """Yield the port of a server."""
    server = Server(application, limits=limits)
    port = await server.start("127.0.0.1", 0)
    try:
        yield port
    finally:
        await server.stop()


async def exchanged(port: int, *parts: bytes) -> bytes:
    """Return all that a server says to bytes that are sent in parts, until it ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(30):
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0)
            return await reader.read()
    finally:
        writer.transport.abort()


_PLAIN = b"GET /first HTTP/1.1\r\nHost: a\r\n\r\n"
_WITH_A_BODY = b"POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"


@pytest.mark.parametrize("first", [_PLAIN, _WITH_A_BODY])
@pytest.mark.parametrize("between", [b"\r\n", b"\n", b"\r", b"\r\n\r\n"])
@pytest.mark.parametrize("cut", [0, 1, 3, 5])
async def test_line_ends_between_requests_are_refused(first: bytes, between: bytes, cut: int) -> None:
    """However the bytes are cut into packets: what was asked before is answered, what follows is not read."""
    seen: list[str] = []

    def note(request: Request) -> Response:
        seen.append(request.path)
        return Response(b"")

    second = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    whole, at = first + between + second, len(first) + 2 - cut
    parts = [whole] if not cut else [whole[:at], whole[at:]]
    async with serving(note) as port:
        text = await exchanged(port, *parts)
    assert text.startswith(b"HTTP/1.1 200 ") and b"HTTP/1.1 400 " in text
    assert seen == ["/first"]


@given(st.lists(st.integers(1, 60), max_size=30))
@settings(max_examples=60, deadline=None)
def test_requests_in_any_pieces(sizes: list[int]) -> None:
    """However requests are cut into packets, the same ones are read."""
    seen: list[tuple[str, str, bytes]] = []
    requests = (
        _PLAIN
        + _WITH_A_BODY
        + b"PUT /c?d HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n"
        + _PLAIN * 3
        + b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    )

    class Reading(RequestParser):
        def received(self, request: Request) -> None:
            seen.append((request.method, request.path, request.body))

        def refuse(self, status: int, message: str) -> None:
            raise AssertionError(message)

    parser = Reading(Server(lambda request: Response(b"")))
    parser._begin()
    position = 0
    for size in [*sizes, len(requests)]:
        if piece := requests[position : position + size]:
            parser.data_received(piece)
        position += size
    first, posted, last = ("GET", "/first", b""), ("POST", "/first", b"ab"), ("GET", "/last", b"")
    assert seen == [first, posted, ("PUT", "/c", b"abc"), first, first, first, last]
