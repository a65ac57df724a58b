"""Clients of kube-dns over TCP that ask and do not read, or say nothing."""

from __future__ import annotations

import asyncio
import socket

import pytest

from pybernetes.node.dns import connection as dns_connection
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
            (held,) = await eventually(lambda: [each for each in server.connections if each._paused])
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
