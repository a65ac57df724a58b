"""Clients that do not read: watches that fall behind, and large answers in slices."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from pybernetes.lib.http import send_turns, server_connection
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import PartedResponse, Request, Response
from pybernetes.lib.http.sending import packed_chunks
from pybernetes.lib.http.stream import Stream, chunk, contents
from tests.lib.http.services import GET, Unreading, Watches, run
from tests.support import eventually


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


def test_a_large_answer_waits_in_slices(serve: Any) -> None:
    """However many do not read, the body is there once; those who read later get all of it."""
    body = bytes(range(256)) * 40_000
    answer = PartedResponse((b"[", body, b"]"))

    async def test() -> None:
        async with serve(lambda request: answer, Limits()) as service:
            clients = [await Unreading.connect(service, GET % b"/") for _ in range(10)]
            server = service.server
            await eventually(
                lambda: len(server.connections) == 10 and all(one._clogged for one in server.connections)
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
                lambda: any(
                    connection._stream and connection._stream._held
                    for connection in service.server.connections
                )
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


def test_others_have_their_turn_while_an_answer_is_packed(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the client takes everything at once, and little is left of much."""
    monkeypatch.setattr(send_turns, "_TURN_SECONDS", -1.0)  # every piece takes too long
    turn, turns = 0, []

    def pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
        for piece in packed_chunks(parts):
            turns.append(turn)
            yield piece

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def test() -> None:
        async with serve(lambda request: Response(b"0" * 20_000_000), Limits()) as service:
            client = await service.connect()
            counting = asyncio.create_task(count())
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n")
            rest = (await client.ended()).partition(b"\r\n\r\n")[2]
            counting.cancel()
            assert len(gzip.decompress(b"".join(contents(rest)))) == 20_000_000
            assert len(turns) > 5 and len(set(turns)) == len(turns)

    monkeypatch.setattr(server_connection, "packed_chunks", pieces)
    run(test())
