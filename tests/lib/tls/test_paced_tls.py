"""Clients whose TLS records are small: nobody else waits until all of them are decrypted."""

from __future__ import annotations

import asyncio
import ctypes
import ctypes.util
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import uvloop

from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.upgrade import upgraded
from pybernetes.lib.tls import paced_tls, tls
from pybernetes.lib.tls.paced_tls import RECORDS, PacedObject
from pybernetes.lib.tls.plain_http_answer import AnsweringContext
from tests.support import eventually

BODY = bytes(range(256)) * 80
UPGRADE = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"


class Turns:
    """Counts the records that are read in each turn of the loop."""

    def __init__(self) -> None:
        self.most = self.now = 0

    def read(self) -> None:
        if not self.now:
            asyncio.get_running_loop().call_soon(self._end)
        self.now += 1
        self.most = max(self.most, self.now)

    def _end(self) -> None:
        self.now = 0


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Turns]:
    turns, read = Turns(), PacedObject.read

    def counting(self: PacedObject, len: int = 1024, buffer: object = None) -> object:
        value = read(self, len, buffer)
        turns.read()
        return value

    monkeypatch.setattr(PacedObject, "read", counting)
    yield turns


def answer(request: Request) -> Answer:
    if b"upgrade" in request.headers:
        return upgraded(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", echo)
    return Response(request.body)


async def echo(duplex: Duplex) -> None:
    while data := await duplex.read():
        duplex.write(data)
        await duplex.drain()


def records(client: ssl.SSLObject, outgoing: ssl.MemoryBIO, data: bytes) -> bytes:
    """Return bytes as TLS records of one byte each."""
    for byte in data:
        client.write(bytes([byte]))
    return outgoing.read()


def both_sides(directory: Path) -> tuple[AnsweringContext, ssl.SSLObject, ssl.MemoryBIO, ssl.MemoryBIO]:
    """Return a server's context, and a client that trusts it, with what it reads from and writes to."""
    certificate, key, authority = tls.ensure_serving(directory, ["127.0.0.1"])
    context = AnsweringContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(authority))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    return context, client, incoming, outgoing


async def shake_hands(
    client: ssl.SSLObject, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        try:
            client.do_handshake()
        except ssl.SSLWantReadError:
            writer.write(outgoing.read())
            incoming.write(await reader.read(65536))
        else:
            writer.write(outgoing.read())
            return reader, writer


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize(
    "head", [b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(BODY), UPGRADE]
)
def test_records_of_one_byte(
    new_loop: object, head: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All arrive, a few in each turn of the loop, after an upgrade as well."""
    context, client, incoming, outgoing = both_sides(tmp_path)

    async def test(turns: Turns) -> None:
        server = Server(answer, limits=Limits())
        port = await server.start("127.0.0.1", 0, context)
        reader, writer = await shake_hands(client, incoming, outgoing, port)
        writer.write(records(client, outgoing, head + BODY))
        received = b""
        async with asyncio.timeout(60):
            while not received.endswith(BODY):
                incoming.write(await reader.read(65536))
                try:
                    while True:
                        received += client.read(65536)
                except ssl.SSLWantReadError:
                    pass
        writer.close()
        await eventually(lambda: not server.connections)
        await server.stop()
        assert turns.most <= RECORDS + 1

    with counted(monkeypatch) as turns, asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(test(turns))


def key_updates(client: ssl.SSLObject, outgoing: ssl.MemoryBIO, count: int) -> bytes:
    """Return so many changes of keys, which have nothing to read in them."""
    library = ctypes.CDLL(ctypes.util.find_library("ssl"))
    # The connection of OpenSSL stands behind the head of Python's object and its socket.
    connection = ctypes.c_void_p.from_address(id(client._sslobj) + 3 * ctypes.sizeof(ctypes.c_void_p))  # type: ignore[attr-defined]
    for _ in range(count):
        assert library.SSL_key_update(connection, 0) == 1
        client.do_handshake()
    return outgoing.read()


CLOSING = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("first", [b"", UPGRADE, CLOSING])
def test_changes_of_keys(
    new_loop: object, first: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of them come before a request: OpenSSL is handed a few records in each turn, and the request is answered.

    It is the same when they come after an upgrade, or where the connection is about to end.
    """
    context, client, incoming, outgoing = both_sides(tmp_path)
    handed, is_counted, hand = [0], [False], PacedObject._hand

    def counting(self: PacedObject) -> bool:
        before = self.handed.pending
        try:
            return hand(self)
        finally:
            handed[-1] += self.handed.pending - before
            if not is_counted[-1]:
                is_counted[-1] = True
                asyncio.get_running_loop().call_soon(end_turn)

    def end_turn() -> None:
        handed.append(0)
        is_counted.append(False)

    async def read(reader: asyncio.StreamReader, end: bytes) -> None:
        received = b""
        while not received.endswith(end) and (data := await reader.read(65536)):
            incoming.write(data)
            try:
                while True:
                    received += client.read(65536)
            except ssl.SSLWantReadError:
                pass

    async def test() -> None:
        server = Server(answer, limits=Limits())
        port = await server.start("127.0.0.1", 0, context)
        reader, writer = await shake_hands(client, incoming, outgoing, port)
        async with asyncio.timeout(60):
            if first == UPGRADE:
                client.write(first)
                writer.write(outgoing.read())
                await read(reader, b"\r\n\r\n")
            handed.append(0)
            flood = key_updates(client, outgoing, 5000)
            request = (
                b"ok" if first == UPGRADE else b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok"
            )
            client.write(first if first == CLOSING else request)
            last = outgoing.read()
            writer.write(last + flood if first == CLOSING else flood + last)
            with suppress(ConnectionError):  # who goes on to send when it was told that this is the end
                await read(reader, b"ok")
        if first != CLOSING:
            assert (
                sum(handed) >= len(flood) - RECORDS * len(flood) // 5000
            )  # the handshake may have had the first
        assert max(handed) <= (RECORDS + 1) * 2 * (len(flood) // 5000) + len(last)
        writer.close()
        await eventually(lambda: not server.connections)
        await server.stop()

    monkeypatch.setattr(PacedObject, "_hand", counting)
    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(test())


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_who_sends_on_after_the_end_is_cut_off(
    new_loop: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing holds the sender back any more: what is thrown away slower than it comes would pile up."""
    context, client, incoming, outgoing = both_sides(tmp_path)
    rest, cut_off = PacedObject._rest, list[ssl.SSLError]()

    def noted(self: PacedObject) -> None:
        try:
            rest(self)
        except ssl.SSLError as error:
            cut_off.append(error)
            raise

    monkeypatch.setattr(PacedObject, "_rest", noted)
    monkeypatch.setattr(paced_tls, "_MOST_AFTER_CLOSE", 256 << 10, raising=False)

    async def ends(duplex: Duplex) -> None:
        await duplex.read()

    def ending(request: Request) -> Answer:
        return upgraded(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", ends)

    async def test() -> None:
        server = Server(ending, limits=Limits())
        port = await server.start("127.0.0.1", 0, context)
        _, writer = await shake_hands(client, incoming, outgoing, port)
        client.write(UPGRADE)
        writer.write(outgoing.read() + records(client, outgoing, bytes(100_000)))
        with suppress(OSError):
            await writer.drain()
        await eventually(lambda: cut_off)
        await eventually(lambda: not server.connections)
        writer.close()
        await server.stop()

    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(test())
