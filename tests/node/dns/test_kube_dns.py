"""kube-dns over real sockets, with a real API server behind it and other name servers beside it."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.request

from pybernetes.client.refs import CONFIG_MAPS, ENDPOINT_SLICES, NAMESPACES, SERVICES
from pybernetes.node.dns import wire
from tests.cluster import Cluster
from tests.node.dns.servers import ask, ask_tcp, other, running
from tests.node.dns.zone import question, service, slice_of, texts
from tests.support import eventually


async def test_names_follow_the_api_server() -> None:
    async with Cluster("--authorization-mode=RBAC") as cluster, running(cluster) as dns:
        port = dns.server.port
        assert (await ask(port, "kubernetes.default.svc.cluster.local"))[0] == wire.NOERROR
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})
        own = "set.team.svc.cluster.local"
        assert (await ask(port, own))[0] == wire.NXDOMAIN
        headless = service("set", "team", clusterIP="None", ports=("http",))
        await cluster.client.create(SERVICES, headless)
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
        assert (await ask(port, www))[0] == wire.REFUSED  # there is nobody to ask
        data = {
            "upstreamNameservers": json.dumps([f"127.0.0.1:{first.port}"]),
            "stubDomains": json.dumps({"acme.local": [f"127.0.0.1:{second.port}"]}),
        }
        config = {"metadata": {"name": "kube-dns", "namespace": "kube-system"}, "data": data}
        await cluster.client.create(CONFIG_MAPS, config)
        await eventually(lambda: dns.configuration.upstream)

        async def known_elsewhere() -> bool:
            return (await ask(port, "nothing.a.svc.example.com"))[0] == wire.NXDOMAIN

        await eventually(known_elsewhere)
        hits, misses = dns.metrics.cache_hits, dns.metrics.cache_misses
        for size in (0, 1232):
            assert await ask(port, www, size=size) == (wire.NOERROR, [f"{www}. 192.0.2.7"], False)
        assert dns.metrics.cache_hits == hits + 1 and dns.metrics.cache_misses == misses + 1
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


async def test_health_readiness_and_metrics() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    async with (
        Cluster() as cluster,
        running(cluster, health_port=free, ready_port=free, metrics_port=free) as dns,
    ):
        await ask(dns.server.port, "kubernetes.default.svc.cluster.local")

        def get(path: str) -> str:
            with urllib.request.urlopen(f"http://127.0.0.1:{free}{path}", timeout=60) as answer:
                return answer.read().decode()

        assert await asyncio.to_thread(get, "/health") == await asyncio.to_thread(get, "/ready") == "OK"
        text = await asyncio.to_thread(get, "/metrics")
        assert 'coredns_dns_requests_total{type="A"} 1' in text
        assert 'coredns_dns_responses_total{rcode="NOERROR"} 1' in text
        assert "coredns_dns_request_duration_seconds_count 1" in text
