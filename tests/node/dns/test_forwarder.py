"""Answers of other servers: cached for as long as they say."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.dns import forwarder as forwarder_module
from pybernetes.node.dns import wire
from pybernetes.node.dns.config import Configuration
from pybernetes.node.dns.forwarder import Forwarder, exchange
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


class Impostor(asyncio.DatagramProtocol):
    """Answers a question as somebody would who guesses: wrongly first, then rightly."""

    def __init__(self, wrong: Callable[[bytes], bytes]) -> None:
        self._wrong = wrong

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        right = data[:2] + b"\x81\x83" + data[4:6] + bytes(6) + data[12:-11]
        for message in (self._wrong(right), right):
            self._transport.sendto(message, addr)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda right: bytes([right[0] ^ 1]) + right[1:],  # another number
        lambda right: right[:13] + b"X" + right[14:],  # another name
        lambda right: right[:-3] + b"\x1c" + right[-2:],  # another type
        lambda right: right[:2] + b"\x01" + right[3:],  # a question
        lambda right: right[:7],
    ],
)
async def test_guesses_are_not_believed(wrong: Callable[[bytes], bytes]) -> None:
    """CVE-2023-28452: answers are taken only by the right number, question and sender, on a port of its own each."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: Impostor(wrong), local_addr=("127.0.0.1", 0))
    try:
        to = transport.get_extra_info("sockname")
        answer = await exchange(wire.name("www.example.com") + struct.pack(">HH", wire.A, 1), to)
        assert answer[2:4] == b"\x81\x83" and b"www" in answer
    finally:
        transport.close()


async def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarder_module, "_MOST_BYTES", 20_000)
    async with other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as server:
        forwarder = Forwarder(Configuration((("127.0.0.1", server.port),)))
        for number in range(60):
            await forwarder.ask(wire.name(f"n{number}.a.svc.example.com") + struct.pack(">HH", wire.A, 1))
            assert forwarder._cached_bytes <= 20_000
        assert 20 < forwarder.metrics.cache_entries < 60
