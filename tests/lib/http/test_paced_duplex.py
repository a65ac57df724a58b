"""Servers whose answers come in as small pieces as they like: nobody else waits, nothing is lost, little memory is taken."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import uvloop

from pybernetes.lib.http import client_connection
from pybernetes.lib.http.client_connection import ClientConnection, Disconnected, request_bytes
from pybernetes.lib.http.dialer import direct
from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.paced_tls import RECORDS, PacedContext
from tests.lib.tls.test_paced_tls import counted, key_updates

GET = request_bytes("GET", "/", [(b"Host", b"a")])
HEAD = b"HTTP/1.1 200 OK\r\n"
Say = Callable[[ssl.SSLObject, ssl.MemoryBIO], bytes]
LOOPS = pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])


@asynccontextmanager
async def saying(directory: Path, say: Say) -> AsyncIterator[ClientConnection]:
    """Yield a connection to a server that says what it wants at once, whatever it is asked, and hangs up."""
    certificate, key, authority = tls.ensure_serving(directory, ["127.0.0.1"])
    context = tls.server_context(certificate, key)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        server = context.wrap_bio(incoming, outgoing, server_side=True)
        asked, is_ready = b"", False
        while not asked:
            try:
                if not is_ready:
                    server.do_handshake()
                    is_ready = True
                asked = server.read(65536)
            except ssl.SSLWantReadError:
                writer.write(outgoing.read())
                incoming.write(await reader.read(65536))
        writer.write(outgoing.read() + say(server, outgoing))
        with suppress(OSError):
            await writer.drain()
        writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    trusting = tls.client_context(authority, kind=PacedContext)
    port = listening.sockets[0].getsockname()[1]
    connection = await direct(ClientConnection, "127.0.0.1", port, context=trusting)
    try:
        async with asyncio.timeout(60):
            yield connection
    finally:
        connection.close()
        listening.close()


def bytewise(count: int) -> Say:
    """Answer with a body in records of one byte each, which ends where the connection does."""

    def say(server: ssl.SSLObject, outgoing: ssl.MemoryBIO) -> bytes:
        server.write(HEAD + b"\r\n")
        for number in range(count):
            server.write(b"%d" % (number % 10))
        return outgoing.read()

    return say


def rekeyed(server: ssl.SSLObject, outgoing: ssl.MemoryBIO) -> bytes:
    """Change keys over and over before an answer."""
    flood = key_updates(server, outgoing, 3000)
    server.write(HEAD + b"Content-Length: 2\r\n\r\nok")
    return flood + outgoing.read()


@LOOPS
@pytest.mark.parametrize(
    ("say", "wanted"), [(bytewise(3000), b"0123456789" * 300), (rekeyed, b"ok")], ids=["records", "keys"]
)
def test_a_few_records_are_read_in_a_turn(
    new_loop: object, say: Say, wanted: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends meanwhile: what came before its end is read all the same."""

    async def scenario() -> None:
        async with saying(tmp_path, say) as connection:
            assert (await connection.request(GET)).body == wanted

    with counted(monkeypatch) as turns, asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(scenario())
    assert turns.most <= RECORDS + 1


@LOOPS
def test_who_reads_slowly_misses_nothing(new_loop: object, tmp_path: Path) -> None:
    """The server is done long before: event loops throw away what their TLS has not read when a connection ends."""
    body = bytes(range(256)) * 8000

    def say(server: ssl.SSLObject, outgoing: ssl.MemoryBIO) -> bytes:
        server.write(HEAD + b"\r\n")
        for start in range(0, len(body), 16000):
            server.write(body[start : start + 16000])
        return outgoing.read()

    async def scenario() -> None:
        async with saying(tmp_path, say) as connection:
            assert (await connection.open(GET)).status == 200
            got = []
            while data := await connection.read():
                got.append(data)
                for _ in range(20):  # turns of the loop in which nobody reads
                    await asyncio.sleep(0)
            assert b"".join(got) == body

    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(scenario())


@LOOPS
def test_what_is_no_answer_ends_after_the_connection_has_ended(
    new_loop: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody tells of the end a second time when the reader gives up."""
    monkeypatch.setattr(client_connection, "_HEAD_LIMIT", 1 << 14)

    def say(server: ssl.SSLObject, outgoing: ssl.MemoryBIO) -> bytes:
        server.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(10):
            server.write(b"2000\r\n%b\r\n" % bytes(0x2000))
        server.write(b"0\r\n")
        for _ in range(10):
            server.write(b"a: b\r\n" * 1000)
        return outgoing.read()

    async def scenario() -> None:
        async with saying(tmp_path, say) as connection:
            assert (await connection.open(GET)).status == 200
            for _ in range(500):  # turns of the loop in which the server hangs up and nobody reads
                await asyncio.sleep(0)
            with pytest.raises(Disconnected, match="the headers of the answer are too large"):
                await connection.read_all()

    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(scenario())


@LOOPS
def test_chunks_of_two_bytes_take_turns(new_loop: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without TLS: what has come is megabytes, which event loops would read at once."""
    most, now = 0, 0
    received = ClientConnection.received

    def noted(self: ClientConnection, data: bytes) -> None:
        nonlocal most, now
        if not now:
            asyncio.get_running_loop().call_soon(end)
        now += len(data)
        most = max(most, now)
        received(self, data)

    def end() -> None:
        nonlocal now
        now = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"2\r\nxy\r\n" * 300_000 + b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def scenario() -> None:
        async with await asyncio.start_server(handle, "127.0.0.1", 0) as listening, asyncio.timeout(60):
            port = listening.sockets[0].getsockname()[1]
            connection = await direct(ClientConnection, "127.0.0.1", port)
            reply = await connection.request(GET)
            connection.close()
            assert reply.body == b"xy" * 300_000

    monkeypatch.setattr(ClientConnection, "received", noted)
    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(scenario())
    assert most <= 512 << 10  # what makes the turn full is read to its end


def test_small_parts_take_little_memory() -> None:
    """A part of two bytes takes 57: of a body of 32 MB in such chunks that was 900 MB."""
    duplex = Duplex()
    for _ in range(100_000):
        duplex._keep(b"xy")
    assert len(duplex._parts) < 1000 and b"".join(duplex._parts) == b"xy" * 100_000
