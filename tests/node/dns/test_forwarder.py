"""Answers of other servers: cached for as long as they say."""

from __future__ import annotations

import asyncio
import socket
import struct

from pybernetes.lib.clock import ManualClock
from pybernetes.node.dns import wire
from pybernetes.node.dns.config import Configuration
from pybernetes.node.dns.forwarder import Forwarder
from tests.node.dns.servers import other
from tests.node.dns.zone import service


async def test_answers_are_remembered_as_long_as_they_say() -> None:
    clock = ManualClock()
    async with other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as server:
        servers = (("127.0.0.1", server.port),)
        forwarder = Forwarder(Configuration(servers), clock=clock)
        asked = wire.name("www.a.svc.example.com") + struct.pack(">HH", wire.A, 1)

        async def ttl() -> int:
            message = await forwarder.ask(asked)
            return wire.read_records(message, wire.read_question(message)[2], 1)[0][0].ttl

        assert await ttl() == 30
        await clock.advance(10)
        assert await ttl() == 20 and forwarder.metrics.cache_hits == 1
        await clock.advance(21)
        assert await ttl() == 30 and forwarder.metrics.forwarded == {f"127.0.0.1:{server.port}": 2}
        # The same question many times at once goes out once.
        await clock.advance(31)
        await asyncio.gather(*(ttl() for _ in range(20)))
        assert forwarder.metrics.forwarded == {f"127.0.0.1:{server.port}": 3}


async def test_a_server_that_is_gone_is_asked_last() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        dead = probe.getsockname()
    async with other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as server:
        forwarder = Forwarder(Configuration((dead, ("127.0.0.1", server.port))))
        for number in range(3):
            asked = wire.name(f"n{number}.a.svc.example.com") + struct.pack(">HH", wire.A, 1)
            assert (await forwarder.ask(asked))[3] & 15 == wire.NXDOMAIN
        assert forwarder.metrics.forward_failures == {f"127.0.0.1:{dead[1]}": 1}
