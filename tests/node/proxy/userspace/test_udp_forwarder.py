"""Forwarding datagrams: a client keeps its target while that exists."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pybernetes.lib.clock import Clock
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.userspace.round_robin import RoundRobin
from pybernetes.node.proxy.userspace.udp_forwarder import UdpForwarder
from tests.node.proxy.userspace.event_loops import LOOPS, run


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
        balancer = RoundRobin(Clock())
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
