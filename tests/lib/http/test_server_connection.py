"""Clients that send too much, too slowly, out of turn or nonsense, and clients that do not read."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import socket
import ssl
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import uvloop

from pybernetes.lib import tls
from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import PartedResponse, Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Application
from pybernetes.lib.http.stream import Stream, chunk, contents
from pybernetes.lib.http.upgrade import Upgrade, upgraded
from tests.support import eventually

QUICK = Limits(head_seconds=0.4, receive_seconds=0.8, idle_seconds=1.2, stall_seconds=1, linger_seconds=0.3)


def refusal(status: int, message: str) -> Response:
    return Response(json.dumps({"code": status, "message": message}).encode(), status)


@dataclass
class Client:
    """One connection to the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> tuple[int, bytes]:
        """Return the next response."""
        status = int((await self.reader.readline()).split()[1])
        length = 0
        while (line := await self.reader.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return status, await self.reader.readexactly(length)

    async def ended(self) -> bytes:
        """Return what comes until the server closes the connection."""
        try:
            return await self.reader.read()
        except (ConnectionError, ssl.SSLError):
            return b""


class Service:
    """A server with an application of the test's own."""

    def __init__(self, server: Server, port: int, context: ssl.SSLContext) -> None:
        self.server, self.port, self.context = server, port, context

    async def connect(self, **options: Any) -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", self.port, ssl=self.context, **options))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    return tls.ensure_serving(tmp_path_factory.mktemp("certificates"), ["127.0.0.1"])


@pytest.fixture
def serve(certificates: tuple[Path, Path, Path]) -> Callable[..., Any]:
    certificate, key, authority = certificates

    @asynccontextmanager
    async def running(application: Application, limits: Limits = QUICK) -> AsyncIterator[Service]:
        server = Server(application, refusal, limits)
        port = await server.start("127.0.0.1", 0, tls.server_context(certificate, key))
        try:
            yield Service(server, port, ssl.create_default_context(cafile=str(authority)))
        finally:
            await server.drain(1)

    return running


class Unreading:
    """A client that reads nothing until it is told to; streams of asyncio read ahead."""

    def __init__(self, service: Service, request: bytes) -> None:
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        plain.connect(("127.0.0.1", service.port))
        self._socket = service.context.wrap_socket(plain, server_hostname="127.0.0.1")
        self._socket.sendall(request)

    @classmethod
    async def connect(cls, service: Service, request: bytes) -> Unreading:
        return await asyncio.to_thread(cls, service, request)

    async def read(self, end: bytes) -> bytes:
        """Return what comes, up to an end."""

        def all_of_it() -> bytes:
            text = bytearray()
            while not text.endswith(end) and (data := self._socket.recv(1 << 20)):
                text += data
            return bytes(text)

        return await asyncio.to_thread(all_of_it)

    def close(self) -> None:
        self._socket.close()


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a test on the event loop that the server runs on."""

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await coroutine

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(bounded())


def echo(request: Request) -> Response:
    return Response(f"{request.method} {request.path} {len(request.body)}".encode())


GET = b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n"


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
                waiting = [each.transport.get_write_buffer_size() for each in service.server.connections]
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


class Watches:
    """An application whose every request opens a stream."""

    def __init__(self, first: bytes = b"") -> None:
        self.streams: list[Stream] = []
        self.first = first
        self.closed = 0

    def __call__(self, request: Request) -> Stream:
        stream = Stream()
        stream.on_open = lambda: stream.write(chunk(self.first)) if self.first else None
        stream.on_close = self._count
        self.streams.append(stream)
        return stream

    def _count(self) -> None:
        self.closed += 1


def test_a_watcher_that_falls_behind_is_cut_off_alone(serve: Any) -> None:
    async def test() -> None:
        watches = Watches()
        async with serve(watches, Limits(backlog=4_000_000)) as service:
            slow = await service.connect(limit=1024)
            quick = await service.connect()
            for client in (slow, quick):
                client.send(GET % b"/")
            await quick.reader.readuntil(b"\r\n\r\n")
            while len(watches.streams) < 2:
                await asyncio.sleep(0)
            frame, received = chunk(b"x" * 100_000), 0
            for _ in range(200):
                for stream in watches.streams:
                    stream.write(frame)
                await quick.reader.readexactly(len(frame))
                received += 1
            assert (received, watches.closed) == (200, 1)
            slow.writer.transport.abort()

    run(test())


def test_what_a_watch_begins_with_may_be_large(serve: Any) -> None:
    async def test() -> None:
        watches = Watches(b"x" * 20_000_000)
        async with serve(watches, Limits(backlog=1_000_000)) as service:
            client = await service.connect()
            client.send(GET % b"/")
            await client.reader.readuntil(b"\r\n\r\n")
            await client.reader.readexactly(len(chunk(watches.first)))
            watches.streams[0].write(chunk(b"more"))
            assert await client.reader.readexactly(9) == chunk(b"more") and not watches.closed

    run(test())


def test_a_watcher_that_reads_nothing_goes_after_a_while(serve: Any) -> None:
    async def test() -> None:
        watches = Watches(b"x" * 20_000_000)
        async with serve(watches) as service:
            client = await service.connect(limit=1024)
            client.send(GET % b"/")
            while not watches.closed:
                await asyncio.sleep(0)
            client.writer.transport.abort()

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
                each.is_busy for each in service.server.connections
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


def test_a_large_answer_waits_in_slices(serve: Any) -> None:
    """However many do not read, the body is there once; those who read later get all of it."""
    body = bytes(range(256)) * 40_000
    answer = PartedResponse((b"[", body, b"]"))

    async def test() -> None:
        async with serve(lambda request: answer, Limits()) as service:
            clients = [await Unreading.connect(service, GET % b"/") for _ in range(10)]
            server = service.server
            await eventually(
                lambda: len(server.connections) == 10 and all(each._clogged for each in server.connections)
            )
            waiting = [connection.transport.get_write_buffer_size() for connection in server.connections]
            assert max(waiting) < 1_000_000 and server.unread.size == len(body) + 2
            for client in clients:
                assert (await client.read(b"\xff]")).endswith(b"\r\n\r\n[" + body + b"]")
                client.close()
            assert server.unread.size == 0

    run(test())


def test_who_takes_no_answer_goes(serve: Any) -> None:
    """After a time, or when others need the room; whoever waits for the answer's end is told."""
    told: list[str] = []

    class Told(Request):
        def written(self) -> None:
            told.append(self.path)

        def owner(self) -> str:
            return "somebody"

    async def test() -> None:
        limits = Limits(answer_seconds=1.5, unread=50_000_000, unread_of_one=25_000_000)
        async with serve(lambda request: Response(bytes(10_000_000)), limits) as service:
            service.server.request_class = Told
            clients = []
            for number in range(4):
                clients.append(await Unreading.connect(service, GET % b"/%d" % number))
                await eventually(lambda: len(told) + len(service.server.unread._owner_of) == len(clients))
            await eventually(lambda: sorted(told)[:2] == ["/0", "/1"])
            assert service.server.unread.ended == 2
            await eventually(lambda: not service.server.connections)
            assert sorted(told) == ["/0", "/1", "/2", "/3"]
            for client in clients:
                client.close()

    run(test())


@pytest.mark.parametrize("pipelined", [False, True])
def test_requests_without_an_answer_have_a_bound(serve: Any, pipelined: bool) -> None:
    """Those that do not end, and those that wait for the one before them: who began first goes."""
    body = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + bytes(990_000)

    async def never(request: Request) -> Response:
        await asyncio.sleep(60 if request.path == "/never" else 0)
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


def test_requests_go_with_their_connection(serve: Any) -> None:
    """Not when garbage is collected: ten clients that hung up left a gigabyte of bodies."""
    alive: weakref.WeakSet[Request] = weakref.WeakSet()

    class Kept(Request):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            alive.add(self)

    async def never(request: Request) -> Response:
        await asyncio.sleep(60)
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


def test_what_a_stream_begins_with_is_made_as_the_client_reads(serve: Any) -> None:
    made = 0

    def frames() -> Iterator[bytes]:
        nonlocal made
        for number in range(2000):
            made += 1
            yield chunk(b"%04d" % number + b"x" * 9996)

    def watch(request: Request) -> Stream:
        stream = Stream()
        stream.begin_with(frames())
        stream.write(chunk(b"the end"))
        return stream

    async def test() -> None:
        async with serve(watch, Limits()) as service:
            client = await Unreading.connect(service, GET % b"/")
            await eventually(
                lambda: any(each._stream and each._stream._held for each in service.server.connections)
            )
            assert made < 1500  # what the kernel takes is not ours to say
            text = await client.read(b"the end\r\n")
            assert text.count(b"x" * 9996) == made == 2000
            client.close()

    run(test())


@pytest.mark.parametrize("size", [200_000, 3_000_000])
def test_large_answers_are_packed_in_slices(serve: Any, size: int) -> None:
    body = b"0123456789" * (size // 10)

    async def test() -> None:
        async with serve(lambda request: Response(body), Limits()) as service:
            client = await service.connect()
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n")
            head, _, rest = (await client.ended()).partition(b"\r\n\r\n")
            assert b"Content-Encoding: gzip" in head and b"Content-Length" not in head
            assert gzip.decompress(b"".join(contents(rest))) == body
            old = await service.connect()
            old.send(b"GET / HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n")
            head, _, rest = (await old.ended()).partition(b"\r\n\r\n")
            assert b"Content-Encoding" not in head and rest == body

    run(test())


def test_a_full_server_takes_new_clients_for_idle_ones(serve: Any) -> None:
    """Who holds connections and says nothing keeps nobody out; a request under way is not ended for that."""
    hold = asyncio.Event()

    async def wait(request: Request) -> Response:
        if request.path == "/wait":
            await hold.wait()
        return Response(b"done")

    async def test() -> None:
        async with serve(wait, Limits(connections=5)) as service:
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
