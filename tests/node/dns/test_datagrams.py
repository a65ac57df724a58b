"""One client that asks far too much beside one that asks now and then."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

from pybernetes.node.dns import records
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.lookup import Lookup
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.query import Query
from pybernetes.node.dns.resolver import Resolver
from pybernetes.node.dns.server import Server
from tests.node.dns.zone import question, service

_BURSTS, _AT_ONCE = 15, 300
WEB = "web.default.svc.cluster.local"


def _client(host: str, port: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setblocking(False)
    opened.bind((host, 0))
    opened.connect(("127.0.0.1", port))
    return opened


@contextlib.asynccontextmanager
async def _server(asked: list[bytes]) -> AsyncIterator[Server]:
    """Yield a name server that knows one service, and asks somebody who answers the quiet client alone."""

    async def handler(query: Query) -> bytes:
        asked.append(query.name)
        if query.client[0] == "127.0.0.2":
            await asyncio.get_running_loop().create_future()
        return Message(query.question).encode()

    table = AnswerTable()
    table.set_namespace("default", True)
    table.set_service("web", records.of_service(service("web", clusterIP="10.96.0.10"), (), table.zone))
    server = Server(Resolver(Lookup(table), handler))
    await server.start("127.0.0.1", 0)
    try:
        yield server
    finally:
        await server.stop()


async def _answers(quiet: socket.socket, *names: str) -> None:
    """Ask, each question once, and wait for all of the answers."""
    loop = asyncio.get_running_loop()
    sent = {number: question(name) for number, name in enumerate(names)}
    for number, message in sent.items():
        await loop.sock_sendall(quiet, number.to_bytes(2) + message[2:])
    async with asyncio.timeout(60):
        while sent:
            answer = await loop.sock_recv(quiet, 4096)
            assert answer[3] & 15 == 0
            del sent[int.from_bytes(answer[:2])]


async def test_who_asks_now_and_then_gets_every_answer() -> None:
    """Neither names of the cluster nor others wait for a flood of names that nobody answers."""
    asked: list[bytes] = []
    async with _server(asked) as server:
        with _client("127.0.0.2", server.port) as loud, _client("127.0.0.3", server.port) as quiet:
            for burst in range(_BURSTS):
                for number in range(_AT_ONCE):
                    with contextlib.suppress(BlockingIOError):
                        loud.send(question(f"{burst}-{number}.example.com"))
                await _answers(quiet, WEB, f"quiet{burst}.example.com")
        assert (
            sum(name.startswith(b"\x06quiet") or name.startswith(b"\x07quiet") for name in asked) == _BURSTS
        )
        assert len(asked) - _BURSTS <= 250, "and the flood has no more under way than one client may"


async def test_a_flood_about_the_cluster_is_answered_in_turns() -> None:
    asked: list[bytes] = []
    async with _server(asked) as server:
        with _client("127.0.0.2", server.port) as loud, _client("127.0.0.3", server.port) as quiet:
            for _ in range(_BURSTS):
                for _ in range(_AT_ONCE):
                    with contextlib.suppress(BlockingIOError):
                        loud.send(question(WEB))
                await _answers(quiet, WEB, WEB)
    assert not asked and server.metrics.protocols[("udp", "1")] >= 2 * _BURSTS


async def test_a_server_that_ends_forgets_what_waits() -> None:
    asked: list[bytes] = []
    async with _server(asked) as server:
        with _client("127.0.0.2", server.port) as loud, _client("127.0.0.3", server.port) as quiet:
            for number in range(450):
                loud.send(question(f"{number}.example.com"))
            await _answers(quiet, WEB)
    assert server.metrics.counters[("kubedns_dropped_total", ())] >= 1
