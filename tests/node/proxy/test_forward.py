"""Passing connections on, with both event loops: early data, half-closed connections, much data, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from pybernetes.lib.clock import Clock
from pybernetes.node.proxy.balance import Balancer
from pybernetes.node.proxy.forward import TcpForwarder, UdpForwarder
from pybernetes.node.proxy.service_port import Target

LOOPS = pytest.mark.parametrize(
    "loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)


def run(loop: Callable[[], Any], work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(asyncio.wait_for(work, 60))


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers once everything has come: with its size, then everything."""
    data = await reader.read()
    writer.write(str(len(data)).encode() + b" " + data)
    await writer.drain()
    writer.close()


@LOOPS
def test_streams(loop: Callable[[], Any]) -> None:
    async def work() -> None:
        async with await asyncio.start_server(_echo, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            balancer = Balancer(Clock())
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
            with pytest.raises(ConnectionResetError):
                await talk(b"x")
            await forwarder.close()

    run(loop, work())


@LOOPS
def test_datagrams(loop: Callable[[], Any]) -> None:
    class Named(asyncio.DatagramProtocol):
        def __init__(self, name: bytes) -> None:
            self.name = name

        def connection_made(self, transport: Any) -> None:
            self.transport = transport

        def datagram_received(self, data: bytes, address: Any) -> None:
            self.transport.sendto(self.name + data, address)

    class Client(asyncio.DatagramProtocol):
        def __init__(self) -> None:
            self.answers: asyncio.Queue[bytes] = asyncio.Queue()

        def datagram_received(self, data: bytes, address: Any) -> None:
            self.answers.put_nowait(data)

    async def work() -> None:
        now = asyncio.get_running_loop()
        targets, ends = [], []
        for name in (b"one", b"two"):
            transport, _ = await now.create_datagram_endpoint(lambda name=name: Named(name), ("127.0.0.1", 0))  # type: ignore[misc]
            targets.append(Target(*transport.get_extra_info("sockname")[:2]))
            ends.append(transport)
        balancer = Balancer(Clock())
        forwarder = UdpForwarder(balancer, 4)
        await forwarder.open()
        balancer.set(targets, 0)
        transport, client = await now.create_datagram_endpoint(
            Client, remote_addr=("127.0.0.1", forwarder.port)
        )
        ends.append(transport)
        for text in (b"a", b"b"):  # a client stays where it is
            transport.sendto(text)
            assert await client.answers.get() == b"one" + text
        balancer.set(targets[1:], 0)
        forwarder.retarget()
        transport.sendto(b"c")
        assert await client.answers.get() == b"twoc"
        await forwarder.close()
        for end in ends:
            end.close()

    run(loop, work())
