"""Forwarding connections: early data, half-closed connections, much data, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pybernetes.lib.clock import Clock
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.userspace.round_robin import RoundRobin
from pybernetes.node.proxy.userspace.tcp_forwarder import TcpForwarder
from tests.node.proxy.userspace.event_loops import LOOPS, run


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer once everything has come: with its size, then everything."""
    data = await reader.read()
    writer.write(str(len(data)).encode() + b" " + data)
    await writer.drain()
    writer.close()


@LOOPS
def test_streams(loop: Callable[[], Any]) -> None:
    async def work() -> None:
        async with await asyncio.start_server(_echo, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            balancer = RoundRobin(Clock())
            forwarder = TcpForwarder(balancer, 4)
            await forwarder.open()
            # Nobody listens on the first: the next one is tried.
            balancer.set((Target("127.0.0.1", 1), Target("127.0.0.1", port)), 0)

            async def talk(data: bytes) -> bytes:
                reader, writer = await asyncio.open_connection("127.0.0.1", forwarder.port)
                writer.write(data)  # at once: before the other side can be connected
                writer.write_eof()
                answer = await reader.read()
                writer.close()
                return answer

            small = await asyncio.gather(*(talk(b"hello") for _ in range(50)))
            assert set(small) == {b"5 hello"}
            much = bytes(range(256)) * 20_000
            assert await talk(much) == b"%d " % len(much) + much
            balancer.set((Target("127.0.0.1", 1),), 0)
            # A client that only listens: one that sends may find the reset while it does, which has other names.
            with pytest.raises(ConnectionResetError):
                reader, _ = await asyncio.open_connection("127.0.0.1", forwarder.port)
                await reader.read()
            await forwarder.close()

    run(loop, work())
