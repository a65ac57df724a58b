"""Clients of kube-dns over TCP that ask and do not read, or say nothing."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from pybernetes.node.dns import connection as dns_connection
from pybernetes.node.dns import wire
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.query import Query
from pybernetes.node.dns.resolver import Resolver
from pybernetes.node.dns.server import Server
from tests.node.dns.servers import ask_tcp, other
from tests.node.dns.zone import question
from tests.support import eventually

_QUESTION = question("a.default.svc.other.zone", "A")
_FRAME = len(_QUESTION).to_bytes(2) + _QUESTION


async def test_who_does_not_read_is_read_no_further_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns_connection, "_IDLE_SECONDS", 1.5)
    loop = asyncio.get_running_loop()
    async with other("other.zone") as server:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", server.port))
            client.setblocking(False)
            sending = asyncio.ensure_future(loop.sock_sendall(client, _FRAME * 400_000))
            (held,) = await eventually(
                lambda: [connection for connection in server.connections if connection._paused]
            )
            assert held._transport.get_write_buffer_size() < 1_000_000 and len(held._buffer) < 1_000_000
            assert len(await ask_tcp(server.port, _QUESTION)) == 1
            await eventually(lambda: held not in server.connections)
            with pytest.raises(OSError):
                await sending


async def test_a_slow_reader_gets_every_answer() -> None:
    async with other("other.zone") as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(_FRAME * 50_000)
        async with asyncio.timeout(60):
            for _ in range(50_000):
                await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
        writer.close()


async def test_one_client_has_a_share_of_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns_connection, "_OF_ONE_CLIENT", 3)
    async with other("other.zone") as server:
        opened = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(6)]
        await eventually(lambda: len(server.connections) == 3)
        async with asyncio.timeout(60):
            assert [await reader.read() for reader, _ in opened[3:]] == [b""] * 3
        for _, writer in opened:
            writer.close()


async def _large(query: Query) -> bytes:
    """Answer as somebody would who wants the answer to take room."""
    record = wire.QUESTION_NAME + struct.pack(">HHIH", wire.TXT, 1, 60, 60_000) + bytes(60_000)
    return b"\0\0\x84\x80" + struct.pack(">HHHH", 1, 1, 0, 0) + query.question + record


async def test_answers_that_nobody_takes_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many connections that ask for large answers and do not read; one that reads gets all of its own."""
    monkeypatch.setattr(dns_connection, "_MOST_UNSENT", 2 << 20)
    server = Server(Resolver(None, _large))
    await server.start("127.0.0.1", 0)
    asked = [question(f"n{number}.example.com", "TXT") for number in range(60)]
    frames = b"".join(len(message).to_bytes(2) + message for message in asked)
    try:
        loud = []
        for _ in range(20):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.bind(("127.0.0.2", 0))
            client.connect(("127.0.0.1", server.port))
            client.send(frames)
            loud.append(client)
        await eventually(lambda: server.metrics.protocols.get(("tcp", "1"), 0) >= 20 * 60)
        await eventually(lambda: len(server.connections) < 20)
        assert server.unsent <= (2 << 20) + 60_100
        assert all(len(answer) > 60_000 for answer in await ask_tcp(server.port, *asked))
        for client in loud:
            client.close()
        await eventually(lambda: not server.connections)
        assert server.unsent == 0
    finally:
        await server.stop()


async def test_over_tcp_clients_take_turns_as_well() -> None:
    """A client with many connections has no more under way than over UDP, and others get answers."""
    asked: list[str] = []

    async def handler(query: Query) -> bytes:
        asked.append(query.client[0])
        if query.client[0] == "127.0.0.2":
            await asyncio.get_running_loop().create_future()
        return Message(query.question).encode()

    server = Server(Resolver(None, handler))
    await server.start("127.0.0.1", 0)
    try:
        loud = []
        for connection in range(20):
            client = socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.2", 0))
            for number in range(64):
                message = question(f"{connection}-{number}.example.com")
                client.send(len(message).to_bytes(2) + message)
            loud.append(client)
        await eventually(lambda: server.metrics.protocols.get(("tcp", "1"), 0) >= 20 * 64)
        assert len(await ask_tcp(server.port, question("quiet.example.com"))) == 1
        await eventually(lambda: asked.count("127.0.0.2") == 250)
        assert len(asked) == 251
        for client in loud:
            client.close()
    finally:
        await server.stop()
