"""kube-dns over real sockets, with a real API server behind it and other name servers beside it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

from pybernetes.client.refs import CONFIG_MAPS, ENDPOINT_SLICES, NAMESPACES, SERVICES
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.lib.clock import ManualClock
from pybernetes.node.dns import records, wire
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.config import Configuration
from pybernetes.node.dns.forwarder import Forwarder
from pybernetes.node.dns.kube_dns import KubeDns, Options
from pybernetes.node.dns.resolver import Resolver
from pybernetes.node.dns.server import Server
from pybernetes.tools.local import addons
from pybernetes.tools.local import dns as names
from tests.cluster import Cluster, eventually
from tests.node.dns.test_records import question, service, slice_of, texts


async def ask(port: int, name: str, kind: str = "A", size: int = 0) -> tuple[int, list[str], bool]:
    """The code, the records and whether there are more of them, over UDP."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.connect(("127.0.0.1", port))
        await loop.sock_sendall(sock, question(name, kind, size))
        async with asyncio.timeout(60):
            answer = await loop.sock_recv(sock, 65535)
    return answer[3] & 15, texts(answer), bool(answer[2] & 2)


async def ask_tcp(port: int, *questions: bytes) -> list[bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"".join(len(each).to_bytes(2) + each for each in questions))
    found = [await reader.readexactly(int.from_bytes(await reader.readexactly(2))) for _ in questions]
    writer.close()
    return found


@contextlib.asynccontextmanager
async def other(
    zone: str, *services: dict[str, Any], slices: tuple[dict[str, Any], ...] = ()
) -> AsyncIterator[Server]:
    """A name server for another zone."""
    table = AnswerTable(zone)
    for number, each in enumerate(services):
        table.set_service(str(number), records.of_service(each, slices, table.zone))
    server = Server(Resolver(table))
    await server.start("127.0.0.1", 0)
    try:
        yield server
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def running(cluster: Cluster, **options: Any) -> AsyncIterator[KubeDns]:
    """kube-dns as the service account that it has in a cluster."""
    await addons.apply(cluster.client, list(names.roles()))
    account = User(names.ACCOUNT, groups=("system:serviceaccounts", AUTHENTICATED))
    made = KubeDns(cluster.local_client(account), Options(port=0, nameservers=(), **options))
    await made.start()
    task = asyncio.create_task(made.run())
    try:
        await eventually(lambda: made.ready)
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await made.stop()


async def test_names_follow_the_api_server() -> None:
    async with Cluster("--authorization-mode=RBAC") as cluster, running(cluster) as dns:
        port = dns.server.port
        assert (await ask(port, "kubernetes.default.svc.cluster.local"))[0] == wire.NOERROR
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})
        own = "set.team.svc.cluster.local"
        assert (await ask(port, own))[0] == wire.NXDOMAIN
        made = service("set", "team", clusterIP="None", ports=("http",))
        await cluster.client.create(SERVICES, made)
        endpoints = {
            **slice_of(("10.244.1.2", "set-0", True), ports=(("http", 80),)),
            "metadata": {
                "name": "set-1",
                "namespace": "team",
                "labels": {"kubernetes.io/service-name": "set"},
            },
        }
        await cluster.client.create(ENDPOINT_SLICES, endpoints)

        async def known(name: str, kind: str = "A") -> list[str]:
            return (await ask(port, name, kind))[1]

        assert await eventually(lambda: known(own)) == [f"{own}. 10.244.1.2"]
        assert await known(f"set-0.{own}") == [f"set-0.{own}. 10.244.1.2"]
        await cluster.client.patch(
            ENDPOINT_SLICES, "set-1", {"endpoints": [{"addresses": ["10.244.1.3"]}]}, "team"
        )
        await eventually(lambda: known(f"10-244-1-3.{own}"))
        assert (await ask(port, f"set-0.{own}"))[0] == wire.NXDOMAIN
        answers = await ask_tcp(dns.server.port, question(own), question("team.svc.cluster.local"))
        assert texts(answers[0]) == [f"{own}. 10.244.1.3"] and answers[1][3] & 15 == wire.NOERROR
        await cluster.client.delete(SERVICES, "set", "team")

        async def gone() -> bool:
            return (await ask(port, own))[0] == wire.NXDOMAIN

        await eventually(gone)


async def test_other_names_are_asked_elsewhere_as_the_config_map_says() -> None:
    many = slice_of(*[(f"10.9.{at // 200}.{at % 200 + 1}", "", True) for at in range(300)])
    async with (
        Cluster() as cluster,
        other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as first,
        other("acme.local", service("big", "b", clusterIPs=["None"]), slices=(many,)) as second,
        running(cluster) as dns,
    ):
        port, www = dns.server.port, "www.a.svc.example.com"
        assert (await ask(port, www))[0] == wire.SERVFAIL
        data = {
            "upstreamNameservers": json.dumps([f"127.0.0.1:{first.port}"]),
            "stubDomains": json.dumps({"acme.local": [f"127.0.0.1:{second.port}"]}),
        }
        config = {"metadata": {"name": "kube-dns", "namespace": "kube-system"}, "data": data}
        await cluster.client.create(CONFIG_MAPS, config)
        await eventually(lambda: dns.forwarder.configuration.upstream)
        for size in (0, 1232):
            assert await ask(port, www, size=size) == (wire.NOERROR, [f"{www}. 192.0.2.7"], False)
        assert dns.metrics.cache_hits == 1 and dns.metrics.cache_misses == 2
        assert (await ask(port, "nothing.a.svc.example.com"))[0] == wire.NXDOMAIN
        # An answer too long for UDP comes to us over TCP, and to whoever asks again over TCP.
        big = "big.b.svc.acme.local"
        assert (await ask(port, big))[2] is True
        assert len(texts((await ask_tcp(port, question(big)))[0])) == 300
        assert (await ask(port, "x.unknown.org"))[0] == wire.REFUSED  # says the upstream server
        alias = service("alias", "default", type="ExternalName", externalName=www)
        await cluster.client.create(SERVICES, alias)
        own = "alias.default.svc.cluster.local"

        async def followed() -> list[str]:
            return (await ask(port, own))[1]

        assert await eventually(followed) == [f"{own}. {www}.", f"{www}. 192.0.2.7"]
        # A wrong configuration changes nothing.
        await cluster.client.patch(
            CONFIG_MAPS, "kube-dns", {"data": {"upstreamNameservers": "nonsense"}}, "kube-system"
        )
        assert (await ask(port, www))[0] == wire.NOERROR


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


async def test_health_readiness_and_metrics() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    async with Cluster() as cluster, running(cluster, http_ports=(free,)) as dns:
        await ask(dns.server.port, "kubernetes.default.svc.cluster.local")

        def get(path: str) -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{free}{path}", timeout=60) as answer:
                return answer.read().decode()

        assert await asyncio.to_thread(get, "/health") == await asyncio.to_thread(get, "/ready") == "OK"
        text = await asyncio.to_thread(get, "/metrics")
        assert 'coredns_dns_requests_total{type="A"} 1' in text
        assert 'coredns_dns_responses_total{rcode="NOERROR"} 1' in text
        assert "coredns_dns_request_duration_seconds_count 1" in text
