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
from tests.lib.http.malformed_requests import FINE, LINE_ENDS, NEXT, check

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


class Reading(RequestParser):
    """Notes what is read, and what is refused."""

    def __init__(self) -> None:
        super().__init__(Server(lambda request: Response(b"")))
        self.read: list[tuple[str, str, bytes]] = []
        self.refused: list[int] = []
        self._begin()

    def received(self, request: Request) -> None:
        self.read.append((request.method, request.path, request.body))

    def refuse(self, status: int, message: str) -> None:
        self.refused.append(status)
        self._closing = True


@pytest.mark.parametrize("requests", FINE.values(), ids=FINE)
@pytest.mark.parametrize("between", LINE_ENDS)
def test_line_ends_between_requests_are_refused(requests: bytes, between: bytes) -> None:
    """However the bytes are cut into packets: what was asked before is answered, what follows is not read."""
    whole = requests + between + NEXT
    pieces = [[whole[:cut], whole[cut:]] for cut in range(len(whole))]
    for parts in [[bytes([byte]) for byte in whole], *pieces]:
        parser, fine = Reading(), Reading()
        for part in filter(None, parts):
            parser.data_received(part)
        fine.data_received(requests)
        assert parser.read == fine.read and len(fine.read) == requests.count(b"/healthz"), parts
        assert (parser.refused, fine.refused) == ([400], []), parts


@pytest.mark.parametrize("requests", FINE.values(), ids=FINE)
def test_the_next_request_is_read_however_packets_are_cut(requests: bytes) -> None:
    whole = requests + NEXT
    for cut in range(1, len(whole)):
        parser = Reading()
        for part in (whole[:cut], whole[cut:]):
            parser.data_received(part)
        assert parser.refused == [] and parser.read[-1] == ("GET", "/smuggled", b""), cut
        assert len(parser.read) == requests.count(b"/healthz") + 1, cut


@given(st.lists(st.integers(1, 60), max_size=30))
@settings(max_examples=60, deadline=None)
def test_requests_in_any_pieces(sizes: list[int]) -> None:
    """However requests are cut into packets, the same ones are read."""
    requests = (
        _PLAIN
        + _WITH_A_BODY
        + b"PUT /c?d HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n"
        + _PLAIN * 3
        + b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    )

    parser = Reading()
    position = 0
    for size in [*sizes, len(requests)]:
        if piece := requests[position : position + size]:
            parser.data_received(piece)
        position += size
    first, posted, last = ("GET", "/first", b""), ("POST", "/first", b"ab"), ("GET", "/last", b"")
    assert parser.read == [first, posted, ("PUT", "/c", b"abc"), first, first, first, last]
    assert parser.refused == []
