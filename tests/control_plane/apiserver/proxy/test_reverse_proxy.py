"""Requests that are passed on to another server, which answers as it should, or as an attacker would."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.proxy import reverse_proxy
from pybernetes.control_plane.apiserver.proxy.pages import PageBody
from pybernetes.control_plane.apiserver.proxy.reverse_proxy import ProxyError, Target, UpgradeError, forward
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Answer
from tests.support import eventually

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
GET = b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
UPGRADE = b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"


class Backend:
    """A server that somebody else wrote."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heads: list[bytes] = []
        self.rest = b""


@asynccontextmanager
async def backend(answer: bytes | Behaviour) -> AsyncIterator[Backend]:
    """Yield a server that answers so, and hangs up; it notes what it is sent."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            noted.heads.append(await reader.readuntil(b"\r\n\r\n"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
                if answer.startswith(b"HTTP/1.1 101"):
                    noted.rest = await reader.read()
            else:
                await answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        noted = Backend(server.sockets[0].getsockname()[1])
        yield noted


@asynccontextmanager
async def client(application: Callable[[Request], Awaitable[Answer]]) -> AsyncIterator[Streams]:
    """Yield a connection to a server with an application."""
    server: Server = Server(application)
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 16)
    try:
        yield reader, writer
    finally:
        writer.close()
        await server.stop()


def request(head: bytes = GET) -> Request:
    """Return a request as the server has read it."""
    nobody: Any = None
    lines = [line.partition(b": ") for line in head.split(b"\r\n")[1:] if line]
    return Request(nobody, "GET", "/x", "", {name.lower(): value for name, _, value in lines}, b"")


async def test_who_gives_up_hangs_up() -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        assert await reader.read() == b""
        gone.set()

    async with backend(hang) as server:
        waiting = asyncio.create_task(forward(request(), Target("127.0.0.1", server.port, "/x")))
        await asyncio.wait_for(asked.wait(), 60)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(gone.wait(), 60)


# -- what looks broken ---------------------------------------------------------------------------------------

PACKED = gzip.compress(b"<p>" * 9999)
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
BROKEN = {
    "a length that is not reached": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbegun",
    "chunks without an end": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n",
    "a chunk that ends early": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbegun",
    "a chunk of no size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\nx\r\n",
    "a trailer without end": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbegun: " + b"x" * (3 << 20),
    "a packed page that ends early": HTML + b"Content-Encoding: gzip\r\n\r\n" + PACKED[:-9],
    "a page that is not packed": HTML + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nbegun",
    "a page that holds too much": HTML + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"\0" * (32 << 20)),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_broken_looks_broken(name: str) -> None:
    """The client sees the end of the connection before that of the answer."""
    async with backend(BROKEN[name]) as server:
        target = Target("127.0.0.1", server.port, "/x", prefix="/p")
        async with client(lambda request: forward(request, target)) as (reader, writer):
            writer.write(GET)
            got = b""
            with suppress(ConnectionError):
                got = await asyncio.wait_for(reader.read(32 << 20), 60)
                while more := await asyncio.wait_for(reader.read(1 << 20), 60):
                    got += more
            assert not got.endswith(b"0\r\n\r\n")


PAGES = {"tags that do not end": b"<a " * 30_000, "quotes that do not end": b"<a href='" * 10_000}


@pytest.mark.parametrize("name", PAGES)
async def test_many_pages_at_once_do_not_hold_the_loop(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of all pages that are on their way may come in one turn of the loop: none of them is changed in it."""
    threads: Counter[int] = Counter()
    some, finish = reverse_proxy._some, PageBody.finish

    def noted(pieces: Iterator[bytes]) -> bytes | None:
        threads[threading.get_ident()] += 1
        return some(pieces)

    def finished(page: PageBody) -> bytes:
        threads[threading.get_ident()] += 1
        return finish(page)

    monkeypatch.setattr(reverse_proxy, "_some", noted)
    monkeypatch.setattr(PageBody, "finish", finished)
    async with backend(HTML + b"Connection: close\r\n\r\n" + PAGES[name]) as server:
        target = Target("127.0.0.1", server.port, "/x", prefix="/p")
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(client(lambda request: forward(request, target)))
                for _ in range(40)
            ]
            for _, writer in clients:
                writer.write(GET)
            answers = await asyncio.gather(*(_whole(reader) for reader, _ in clients))
    assert all(answer.endswith(b"0\r\n\r\n") for answer in answers)
    assert threads.total() >= 80 and threading.get_ident() not in threads


async def _whole(reader: asyncio.StreamReader) -> bytes:
    got = b""
    while not got.endswith(b"0\r\n\r\n") and (more := await asyncio.wait_for(reader.read(1 << 16), 60)):
        got += more
    return got


async def test_nothing_is_lost_when_the_client_is_slow() -> None:
    """A backend is read as fast as the client takes it: it waits, and all of it arrives."""
    total, piece, sent = 48 << 20, b"x" * (1 << 18), 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % total)
        while sent < total:
            writer.write(piece)
            await writer.drain()
            sent += len(piece)

    async with backend(answer) as server:
        target = Target("127.0.0.1", server.port, "/x")
        async with client(lambda request: forward(request, target)) as (reader, writer):
            writer.write(GET)
            seen = deque([-1], maxlen=150)

            def still() -> bool:
                """Tell whether nothing has moved for many turns."""
                seen.append(sent)
                return len(seen) == seen.maxlen and seen[0] == sent > 0

            await eventually(still)
            assert 0 < sent < total // 2
            await reader.readuntil(b"\r\n\r\n")
            got = 0
            while size := int(await reader.readuntil(b"\r\n"), 16):
                got += len(await reader.readexactly(size + 2)) - 2
            assert got == total


# -- upgrades ------------------------------------------------------------------------------------------------


async def test_nobody_takes_a_connection_over_unasked() -> None:
    """A server in a pod would get the next requests of the client, its credentials included (CVE-2018-1002105)."""
    async with backend(SWITCHED) as server:
        with pytest.raises(UpgradeError, match='tried to switch protocol "x" when "" was requested'):
            await forward(request(), Target("127.0.0.1", server.port, "/x"))
        with pytest.raises(UpgradeError):  # asked for, but not of this server
            await forward(request(UPGRADE), Target("127.0.0.1", server.port, "/x", upgrades=False))
        without = request(UPGRADE.replace(b"Connection: Upgrade\r\n", b""))
        with pytest.raises(UpgradeError):
            await forward(without, Target("127.0.0.1", server.port, "/x"))
        assert not any(b"upgrade" in head.lower() for head in server.heads)


@pytest.mark.parametrize("status", [200, 204, 301, 302, 307])
async def test_an_upgrade_is_no_way_to_another_answer(status: int) -> None:
    """Redirects of an upgrade go nowhere (CVE-2018-1002102, CVE-2020-8559)."""
    answer = f"HTTP/1.1 {status} X\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n".encode()
    async with backend(answer) as server:
        with pytest.raises(UpgradeError, match=f"invalid upgrade response: status code {status}"):
            await forward(request(UPGRADE), Target("127.0.0.1", server.port, "/x"))


async def test_a_refused_upgrade_ends_the_connection() -> None:
    """What the client sends after it is no request, to nobody (CVE-2018-1002105)."""
    async with backend(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno") as server:
        target = Target("127.0.0.1", server.port, "/x")
        async with client(lambda request: forward(request, target)) as (reader, writer):
            writer.write(UPGRADE + GET)
            answer = await asyncio.wait_for(reader.read(), 60)
            assert answer.count(b"HTTP/1.1") == 1 and answer.startswith(b"HTTP/1.1 400")
        assert len(server.heads) == 1 and GET not in server.rest


# -- headers -------------------------------------------------------------------------------------------------


async def test_what_a_client_says_about_the_connection_is_not_passed_on() -> None:
    """Headers that name users are ours alone, and no client can have them removed by naming them."""
    head = (
        b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, X-Remote-User, X-Mine\r\nX-Remote-User: root\r\nX-Mine: 1\r\n"
        b"X-Remote-Extra-A: 1\r\nImpersonate-User: root\r\nImpersonate-Extra-B: 1\r\nAuthorization: Bearer t\r\n"
        b"Proxy-Authorization: p\r\nTE: trailers\r\nKeep-Alive: 5\r\nX-Kept: 1\r\n\r\n"
    )
    async with backend(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as server:
        target = Target("127.0.0.1", server.port, "/x", more=[(b"X-Remote-User", b"jane")])
        async with client(lambda request: forward(request, target)) as (reader, writer):
            writer.write(head)
            await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 60)
        names = sorted(line.partition(b":")[0].lower() for line in server.heads[0].split(b"\r\n")[1:] if line)
        assert names == [b"host", b"x-kept", b"x-remote-user"]
        assert b"X-Remote-User: jane" in server.heads[0]


async def test_what_a_server_says_about_the_connection_is_not_passed_back() -> None:
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\nTrailer: x\r\n"
        b"Proxy-Authenticate: Basic\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Credentials: true\r\n"
        b"Upgrade: h2c\r\nDate: then\r\nSet-Cookie: a=b\r\nX-Kept: 1\r\n\r\nok"
    )
    async with backend(answer) as server:
        stream = await forward(request(), Target("127.0.0.1", server.port, "/x"))
        assert not isinstance(stream, Response)
        assert [name for name, _ in stream.headers] == [b"Set-Cookie", b"X-Kept"]  # type: ignore[union-attr]
        stream.lost()


@pytest.mark.parametrize(
    "line",
    [b"X: a\rSet-Cookie: b", b"X: a\nSet-Cookie: b", b"X: a\r\n folded", b"X\r: a", b"X : a", b"X: a\0b"],
)
async def test_no_header_becomes_two(line: bytes) -> None:
    async with backend(b"HTTP/1.1 200 OK\r\n%b\r\nContent-Length: 0\r\n\r\n" % line) as server:
        with pytest.raises(ProxyError):
            await forward(request(), Target("127.0.0.1", server.port, "/x"))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 40_000, "too large"),
        (b"\r\n" * 700_000, "too large"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "unsupported transfer encoding"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", "unexpected EOF"),
        (b"hello\r\n\r\n", "malformed"),
        (b"", "unexpected EOF"),
    ],
)  # fmt: skip
async def test_what_is_no_answer(answer: bytes, text: str) -> None:
    async with backend(answer) as server:
        with pytest.raises(ProxyError, match=text):
            await forward(request(), Target("127.0.0.1", server.port, "/x"))


async def test_of_several_answers_the_first_is_passed_back() -> None:
    """Neither what comes before it, nor behind it, nor its trailers are headers or answers of the client's."""
    answer = (
        b"HTTP/1.1 103 Early Hints\r\nX-Evil: 1\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\nok\r\n0\r\nX-Evil: 2\r\n\r\nHTTP/1.1 200 OK\r\nX-Evil: 3\r\nContent-Length: 4\r\n\r\nevil"
    )
    async with backend(answer) as server:
        target = Target("127.0.0.1", server.port, "/x")
        async with client(lambda request: forward(request, target)) as (reader, writer):
            writer.write(GET)
            got = await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 60)
            assert b"\r\n2\r\nok\r\n" in got and b"evil" not in got.lower()
            writer.write(GET)
            again = await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 60)
            assert again.startswith(b"HTTP/1.1 200") and b"evil" not in again.lower()
        assert len(server.heads) == 2


@pytest.mark.parametrize(
    ("line", "text"), [(b"X: a\r\n", "too many headers"), (b"X: " + b"a" * 10_000 + b"\r\n", "too large")]
)
async def test_a_head_has_an_end(line: bytes, text: str) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(line * 10)
            await writer.drain()

    async with backend(endless) as server:
        with pytest.raises(ProxyError, match=text):
            await forward(request(), Target("127.0.0.1", server.port, "/x"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_servers_behind_this_one_send_nobody_elsewhere(status: int) -> None:
    """A client would bring its credentials there (CVE-2022-3172)."""
    answer = f"HTTP/1.1 {status} X\r\nLocation: https://elsewhere/\r\nContent-Length: 0\r\n\r\n".encode()
    async with backend(answer) as server:
        given = await forward(request(), Target("127.0.0.1", server.port, "/x", redirects=False))
        assert isinstance(given, Response) and given.status == 502 and not given.headers
        assert given.body == b"the backend attempted to redirect this request, which is not permitted"
        passed_on = await forward(request(), Target("127.0.0.1", server.port, "/x"))
        assert not isinstance(passed_on, Response)
        assert (b"Location", b"https://elsewhere/") in passed_on.headers  # type: ignore[union-attr]
        passed_on.lost()
