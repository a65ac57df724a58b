"""A name server on real sockets that takes one Corefile after another."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import urllib.request
from collections.abc import AsyncIterator

import pytest

from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.name_server import NameServer
from pybernetes.node.dns.plugin import Environment
from tests.node.dns.servers import ask, ask_tcp
from tests.node.dns.zone import question, texts
from tests.support import eventually


def listen(hosts: tuple[str, ...], port: int) -> tuple[tuple[str, ...], int]:
    return ("127.0.0.1",), port


@contextlib.asynccontextmanager
async def running(text: str) -> AsyncIterator[NameServer]:
    server = NameServer(None, Environment(listen=listen))
    await server.load(text)
    try:
        yield server
    finally:
        await server.close()


def hosts(address: str, more: str = "") -> str:
    return f".:0 {{\n hosts /nowhere {{\n {address} name.example\n }}\n reload\n {more}\n}}\n"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_changed_file_counts_and_a_wrong_one_does_not() -> None:
    async with running(hosts("192.0.2.1")) as server:
        port = server.port
        assert (await ask(port, "name.example"))[1] == ["name.example. 192.0.2.1"]
        assert await server.reload(hosts("192.0.2.2"))
        assert server.port == port and (await ask(port, "name.example"))[1] == ["name.example. 192.0.2.2"]
        assert not await server.reload(hosts("192.0.2.3", "magic"))
        assert (await ask(port, "name.example"))[1] == ["name.example. 192.0.2.2"]
        failed = ("coredns_reload_failed_total", ())
        assert server.metrics.counters[failed] == 1
        assert await server.reload(hosts("192.0.2.3", "magic"))  # the same again is not tried again
        assert server.metrics.counters[failed] == 1
        assert await server.reload(hosts("192.0.2.4"))
        assert (await ask(port, "name.example"))[1] == ["name.example. 192.0.2.4"]
        versions = [
            labels for name, labels in server.metrics.counters if name == "coredns_reload_version_info"
        ]
        assert len(versions) == 1


async def test_pages_come_and_go_and_a_port_that_is_taken_changes_nothing() -> None:
    first, second = free_port(), free_port()

    def page(port: int) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60) as answer:
            return str(answer.read().decode())

    async with running(hosts("192.0.2.1", f"health 127.0.0.1:{first}")) as server:
        assert await asyncio.to_thread(page, first) == "OK"
        assert await server.reload(hosts("192.0.2.1", f"health 127.0.0.1:{second}"))
        assert await asyncio.to_thread(page, second) == "OK"
        with pytest.raises(OSError):
            await asyncio.to_thread(page, first)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            wrong = hosts("192.0.2.9", f"health 127.0.0.1:{taken.getsockname()[1]}")
            assert not await server.reload(wrong)
        assert await asyncio.to_thread(page, second) == "OK"
        assert (await ask(server.port, "name.example"))[1] == ["name.example. 192.0.2.1"]


async def test_questions_in_one_segment_are_all_answered() -> None:
    async with running(hosts("192.0.2.1")) as server:
        answers = await ask_tcp(
            server.port, *(question("name.example", identifier=number) for number in range(500))
        )
        assert {int.from_bytes(answer[:2]) for answer in answers} == set(range(500))
        assert all(texts(answer) == ["name.example. 192.0.2.1"] for answer in answers)


async def test_a_server_that_forwards_to_itself_notices(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    text = f".:{port} {{\n errors\n cache\n loop\n forward . 127.0.0.1:{port}\n}}\n"
    async with running(text) as server:
        await eventually(lambda: any("Loop (127.0.0.1" in message for message in caplog.messages))
        assert not server.ready
        assert (await ask(server.port, "www.example.com"))[0] == wire.SERVFAIL


async def test_a_block_is_answered_where_it_is_bound() -> None:
    server = NameServer(None, Environment())
    await server.load(".:0 {\n bind lo 127.0.0.2\n whoami\n}")
    try:
        ((addresses, _),) = server.servers
        assert "127.0.0.1" in addresses and "127.0.0.2" in addresses
        assert (await ask(server.port, "x.example"))[0] == wire.NOERROR
        assert not await server.reload(".:0 {\n bind nosuchlink\n whoami\n}")
    finally:
        await server.close()


async def test_without_a_cluster_there_are_no_names_of_one() -> None:
    with pytest.raises(CorefileError, match="there is no cluster to ask"):
        async with running(".:0 {\n kubernetes cluster.local\n}"):
            pass
