"""The name server of a local cluster: it follows the Corefile of its ConfigMap."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.node.dns import chain, usual, wire
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.tools.local import settings
from pybernetes.tools.local.addons import addons, dns
from pybernetes.tools.local.addons.dns import ClusterDns, DnsSettings
from tests.cluster import Cluster
from tests.node.dns.servers import ask, other
from tests.node.dns.zone import service
from tests.support import eventually

HOSTS = "    hosts {\n        192.0.2.1 name.example\n        fallthrough\n    }\n"


@contextlib.asynccontextmanager
async def running(cluster: Cluster) -> AsyncIterator[ClusterDns]:
    """Yield the name server as the service account that it has in a cluster."""
    await addons.apply(cluster.client, list(dns.roles()))
    account = User(dns.ACCOUNT, groups=("system:serviceaccounts", AUTHENTICATED))
    place = DnsSettings("127.0.0.1", "10.96.0.10", port=0)
    running_dns = ClusterDns(cluster.local_client(account), cluster.client, place)
    await running_dns.start()
    task = asyncio.create_task(running_dns.run())
    try:
        await eventually(lambda: running_dns.server.ready)
        yield running_dns
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await running_dns.server.close()


async def write(cluster: Cluster, text: str) -> None:
    await cluster.client.patch(CONFIG_MAPS, "coredns", {"data": {"Corefile": text}}, "kube-system")


async def test_the_config_map_is_made_and_followed() -> None:
    async with Cluster("--authorization-mode=RBAC") as cluster, running(cluster) as cluster_dns:
        port, own = cluster_dns.server.port, "kubernetes.default.svc.cluster.local"
        text = (await cluster.client.get(CONFIG_MAPS, "coredns", "kube-system"))["data"]["Corefile"]
        assert (await ask(port, own))[0] == wire.NOERROR

        async def known(name: str = "name.example") -> Any:
            return (await ask(port, name))[1]

        await write(cluster, text.replace("    ready\n", f"    ready\n{HOSTS}"))
        assert await eventually(known) == ["name.example. 192.0.2.1"]
        # A wrong one changes nothing, and is counted.
        await write(cluster, "nonsense")
        failed = ("coredns_reload_failed_total", ())
        await eventually(lambda: cluster_dns.server.metrics.counters.get(failed))
        assert await known() and await known(own)
        # Other options of the cluster's names: nobody is told meanwhile that one does not exist.
        await write(cluster, text.replace("pods insecure", "pods verified").replace("ttl 30", "ttl 7"))

        async def changed() -> bool:
            assert (await ask(port, own))[0] == wire.NOERROR
            return cluster_dns.server.names is not None and cluster_dns.server.names.options.ttl == 7

        await eventually(changed)
        assert (await ask(port, own))[0] == wire.NOERROR


async def test_a_wrong_config_map_does_not_keep_the_cluster_from_starting() -> None:
    async with Cluster() as cluster:
        meta = {"name": "coredns", "namespace": "kube-system"}
        await cluster.client.create(CONFIG_MAPS, {"metadata": meta, "data": {"Corefile": "nonsense"}})
        async with running(cluster) as cluster_dns:
            assert (await ask(cluster_dns.server.port, "kubernetes.default.svc.cluster.local"))[
                0
            ] == wire.NOERROR
        assert (await cluster.client.get(CONFIG_MAPS, "coredns", "kube-system"))["data"] == {
            "Corefile": "nonsense"
        }


async def test_the_older_config_map_counts_while_nobody_has_changed_the_corefile() -> None:
    async with (
        Cluster() as cluster,
        other("acme.local", service("www", "a", clusterIPs=["192.0.2.7"])) as server,
        running(cluster) as cluster_dns,
    ):
        meta = {"name": "kube-dns", "namespace": "kube-system"}
        data = {"stubDomains": json.dumps({"acme.local": [f"127.0.0.1:{server.port}"]})}
        await cluster.client.create(CONFIG_MAPS, {"metadata": meta, "data": data})

        async def code() -> int:
            return (await ask(cluster_dns.server.port, "www.a.svc.acme.local"))[0]

        async def known() -> bool:
            return await code() == wire.NOERROR

        await eventually(known)
        await cluster.client.delete(CONFIG_MAPS, "kube-dns", "kube-system")

        async def unknown() -> bool:
            return await code() != wire.NOERROR

        await eventually(unknown)


@pytest.mark.parametrize(
    ("corefile", "older", "counts"),
    [
        (dns.new_corefile(), {}, "as it is"),
        (dns.new_corefile(), {"upstreamNameservers": '["192.0.2.53"]'}, "forward . 192.0.2.53:53 {"),
        (dns.new_corefile(), {"stubDomains": '{"a.b": ["192.0.2.54:5353"]}'}, "a.b.:53 {"),
        (dns.new_corefile(), {"stubDomains": "nonsense"}, "as it is"),
        (". {\n whoami\n}", {"upstreamNameservers": '["192.0.2.53"]'}, "as it is"),
    ],
)
def test_which_corefile_counts(corefile: str, older: dict[str, str], counts: str) -> None:
    text = dns.effective(corefile, older)
    assert text == corefile if counts == "as it is" else counts in text


@pytest.mark.parametrize(
    "text",
    [
        ".:53 {\n hosts /etc/shadow\n}",
        ".:53 {\n forward . /etc/passwd\n}",
        ".:53 {\n forward . tls://192.0.2.1 {\n tls /root/.ssh/id_rsa\n }\n}",
        ".:22 {\n whoami\n}",
        ".:53 {\n bind 0.0.0.0\n whoami\n}",
    ],
)
def test_a_corefile_chooses_neither_files_nor_ports_of_the_machine(text: str) -> None:
    with pytest.raises(CorefileError):
        chain.build(text, dns.environment(DnsSettings("127.0.0.1", "10.96.0.10")))


def test_a_corefile_learns_nothing_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "whoami")
    with pytest.raises(CorefileError, match="Unknown directive ''"):
        chain.build(".:53 {\n {$SECRET}\n}", dns.environment(DnsSettings("127.0.0.1", "10.96.0.10")))


def test_the_cache_of_a_node_asks_the_cluster_over_tcp() -> None:
    from pybernetes.node.dns.plugin import Environment

    (place,) = chain.build(usual.node_local("cluster.local", "10.96.0.10"), Environment()).listening
    assert (place.addresses, place.port) == (("169.254.20.10",), 53)
    assert set(place.routes) == {
        wire.name(zone) for zone in ("cluster.local", "in-addr.arpa", "ip6.arpa", ".")
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dns": "other"}, "the name server 'other' is none of built-in, none"),
        ({"node_local_dns": True, "proxy_mode": "none"}, "needs nodes with networks of their own"),
        ({"node_local_dns": True, "ip_family": "ipv6"}, "needs nodes with networks of their own"),
    ],
)
def test_settings_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(settings.SettingsError, match=message):
        settings.apply("c", settings.Settings(), changes)
