"""forward: other servers on real sockets, that answer, fail, and come back."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.node.dns import chain, wire
from pybernetes.node.dns.chain import Chains
from pybernetes.node.dns.plugins.forward import forward, proxy
from pybernetes.node.dns.resolver import Resolver
from tests.node.dns.chains import ask, environment
from tests.node.dns.servers import other
from tests.node.dns.zone import question, service
from tests.support import eventually

WWW = "www.a.svc.example.com"


@contextlib.asynccontextmanager
async def forwarding(text: str, dialer: Dialer = direct) -> AsyncIterator[tuple[Resolver, Chains]]:
    """Yield what answers as a Corefile says, and end its connections."""
    chains = chain.build(text, replace(environment(), dialer=dialer))
    try:
        yield Resolver(None, chains.listening[0].handler), chains
    finally:
        for close in chains.site.closing:
            await close()


def unused() -> int:
    """Return a port that nobody listens on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_servers_that_fail_are_passed_over_and_looked_after() -> None:
    dead = unused()
    async with other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as server:
        text = f". {{\n forward . 127.0.0.1:{dead} 127.0.0.1:{server.port} {{\n policy sequential\n health_check 50ms\n }}\n}}"
        async with forwarding(text) as (resolver, chains):
            metrics = chains.site.environment.metrics
            assert await ask(resolver, WWW) == (0, [f"{WWW}. 192.0.2.7"])
            assert metrics.forward_failures == {f"127.0.0.1:{dead}": 1}
            failed = (
                "coredns_proxy_healthcheck_failures_total",
                (("proxy_name", "forward"), ("to", f"127.0.0.1:{dead}")),
            )
            await eventually(lambda: metrics.counters.get(failed, 0) >= 2)
            assert await ask(resolver, WWW) == (0, [f"{WWW}. 192.0.2.7"])
            assert metrics.forward_failures == {f"127.0.0.1:{dead}": 1}  # it is not asked while it is down
            async with asyncio.timeout(60):
                revived = await asyncio.get_running_loop().create_datagram_endpoint(
                    _Refuser, ("127.0.0.1", dead)
                )
            await eventually(lambda: metrics.forward_failures == {f"127.0.0.1:{dead}": 1})

            async def asked_again() -> bool:
                return (await ask(resolver, WWW))[0] == wire.REFUSED

            await eventually(asked_again)
            revived[0].close()


class _Refuser(asyncio.DatagramProtocol):
    """A server that says no to everything: it is well."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = data[:2] + b"\x81\x85" + data[4:6] + bytes(6) + data[12:-11]
        self.transport.sendto(answer, addr)  # type: ignore[attr-defined]


async def test_zones_exceptions_and_codes_that_lead_on() -> None:
    async with (
        other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as first,
        other("example.com", service("new", "a", clusterIPs=["192.0.2.8"])) as second,
    ):
        text = f""". {{
            forward example.com 127.0.0.1:{first.port} {{
                except secret.example.com
                next NXDOMAIN
            }}
            forward . 127.0.0.1:{second.port} {{
                force_tcp
            }}
        }}"""
        async with forwarding(text) as (resolver, _):
            assert await ask(resolver, WWW) == (0, [f"{WWW}. 192.0.2.7"])
            assert await ask(resolver, "new.a.svc.example.com") == (0, ["new.a.svc.example.com. 192.0.2.8"])
            assert first.metrics.codes[wire.NXDOMAIN] == 1 and len(second.connections) == 1
            assert (await ask(resolver, "x.secret.example.com"))[0] == wire.NXDOMAIN
            assert first.metrics.codes[wire.NXDOMAIN] == 1


async def test_no_more_questions_are_under_way_than_may_be() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    text = (
        f". {{\n forward . 127.0.0.1:{port} {{\n force_tcp\n max_concurrent 2\n read_timeout 500ms\n }}\n}}"
    )
    async with forwarding(text) as (resolver, _):
        codes = await asyncio.gather(*(ask(resolver, f"n{number}.example") for number in range(5)))
        assert sorted(code for code, _ in codes) == [wire.SERVFAIL] * 2 + [wire.REFUSED] * 3
    server.close()


class Elsewhere(Dialer):
    """Reaches a server that has no address of this machine."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port, self.asked = port, list[tuple[str, str]]()

    async def connected(self, host: str, port: int) -> socket.socket | None:
        self.asked.append(("tcp", host))
        made = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        made.setblocking(False)
        return made

    async def datagrams(self, host: str, port: int) -> socket.socket | None:
        self.asked.append(("udp", host))
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setblocking(False)
        made.connect(("127.0.0.1", self.port))
        return made


@pytest.mark.parametrize("option, protocol", [("", "udp"), ("force_tcp", "tcp")])
async def test_servers_inside_a_cluster_are_reached_where_it_is(option: str, protocol: str) -> None:
    async with other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as server:
        dialer = Elsewhere(server.port)
        text = f". {{\n forward . 10.77.0.9 {{\n {option}\n }}\n}}"
        async with forwarding(text, dialer=dialer) as (resolver, _):
            assert await ask(resolver, WWW) == (0, [f"{WWW}. 192.0.2.7"])
        assert dialer.asked == [(protocol, "10.77.0.9")]


async def test_a_flood_takes_no_more_sockets_than_there_are_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    over, under_way = asyncio.Event(), 0

    async def exchange(question: bytes, to: tuple[str, int], source: str, dialer: Dialer) -> bytes:
        nonlocal under_way
        under_way += 1
        await over.wait()
        raise OSError("it is over")

    monkeypatch.setattr(forward, "_AT_ONCE", 50)
    monkeypatch.setattr(proxy, "exchange", exchange)
    async with forwarding(". {\n forward . 127.0.0.1 {\n max_fails 0\n read_timeout 60s\n }\n}") as (
        resolver,
        _,
    ):
        asking = [asyncio.create_task(ask(resolver, f"n{number}.example")) for number in range(200)]
        await eventually(lambda: sum(task.done() for task in asking) >= 150)
        assert under_way == 50
        over.set()
        assert {code for code, _ in await asyncio.gather(*asking)} == {wire.SERVFAIL}


async def test_one_answer_has_one_edns_option() -> None:
    async with (
        other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as server,
        forwarding(f". {{\n forward . 127.0.0.1:{server.port}\n}}") as (resolver, _),
    ):
        message = await resolver.respond(question(WWW, size=1232), True)  # type: ignore[misc]
        assert message[10:12] == b"\0\1" and message.endswith(b"\0\0\x29\x04\xd0" + bytes(6))
