"""Names of services of many clusters."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, ENDPOINT_SLICES, NAMESPACES
from pybernetes.node.dns import records, wire
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.imported_names import SERVICE_IMPORTS
from pybernetes.node.dns.lookup import Lookup
from pybernetes.node.dns.name_server import NameServer
from pybernetes.node.dns.plugin import Environment
from pybernetes.node.dns.resolver import Resolver
from tests.cluster import Cluster
from tests.node.dns.servers import ask
from tests.node.dns.zone import NX, OK, Zone, service, slice_of
from tests.support import eventually

COREFILE = """.:0 {
    kubernetes cluster.local clusterset.local {
        multicluster clusterset.local
    }
}
"""


def imported(name: str, namespace: str = "default", **spec: Any) -> dict[str, Any]:
    """Return a ServiceImport."""
    ports = [{"name": "http", "protocol": "TCP", "port": 80}]
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"type": "ClusterSetIP", "ports": ports, **spec},
    }


def of_cluster(name: str, endpoint_slice: dict[str, Any]) -> dict[str, Any]:
    """Return a slice with endpoints of a cluster."""
    return {**endpoint_slice, "metadata": {"labels": {records.SOURCE_CLUSTER: name}}}


class SetZone(Zone):
    """A cluster's zone with one of a set beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.beside = AnswerTable("clusterset.local", beside=self.table)
        self.beside.set_namespace("default", True)
        self.resolver = Resolver(Lookup(self.table, beside=(self.beside,)))

    def add_import(self, obj: dict[str, Any], *slices: dict[str, Any]) -> None:
        key = f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
        self.beside.set_service(key, records.of_import(obj, slices, self.beside.zone))


def test_an_import_with_addresses() -> None:
    zone = SetZone()
    zone.add(service("web", clusterIPs=["10.96.0.7"]))
    zone.add_import(imported("web", ips=["10.97.0.1", "fd00::1", "no address"]))
    own = "web.default.svc.clusterset.local."
    assert zone.ask(own) == (OK, [f"{own} 10.97.0.1"])
    assert zone.ask(own, "AAAA") == (OK, [f"{own} fd00::1"])
    assert zone.ask(own, "SRV")[1] == [f"{own} 0 100 80 {own}"]
    assert zone.ask(f"_http._tcp.{own}", "SRV")[1] == [f"_http._tcp.{own} 0 100 80 {own}"]
    assert zone.ask("web.default.svc.cluster.local.")[1] == ["web.default.svc.cluster.local. 10.96.0.7"]
    assert zone.ask("1.0.97.10.in-addr.arpa.", "PTR")[0] != OK  # nothing is said about their addresses


def test_an_import_without_addresses_has_no_name() -> None:
    zone = SetZone()
    zone.add_import(imported("web"))
    assert zone.ask("web.default.svc.clusterset.local.")[0] == NX


def test_a_headless_import_has_names_by_cluster() -> None:
    zone = SetZone()
    one = of_cluster(
        "one", slice_of(("10.1.0.2", "set-0", True), ("10.1.0.3", "", False), ports=(("http", 80),))
    )
    two = of_cluster(
        "two", slice_of(("10.2.0.2", "set-0", True), ("10.2.0.3", "", True), ports=(("http", 80),))
    )
    zone.add_import(imported("set", type="Headless"), one, two)
    own = "set.default.svc.clusterset.local."
    assert sorted(zone.ask(own)[1]) == [f"{own} 10.1.0.2", f"{own} 10.2.0.2", f"{own} 10.2.0.3"]
    assert zone.ask(f"set-0.one.{own}")[1] == [f"set-0.one.{own} 10.1.0.2"]
    assert zone.ask(f"set-0.two.{own}")[1] == [f"set-0.two.{own} 10.2.0.2"]
    assert zone.ask(f"10-2-0-3.two.{own}")[1] == [f"10-2-0-3.two.{own} 10.2.0.3"]
    assert zone.ask(f"set-0.{own}")[0] == NX
    assert len(zone.ask(own, "SRV")[1]) == 3
    assert zone.ask("2.0.1.10.in-addr.arpa.", "PTR")[0] != OK


def test_what_exists_in_a_set() -> None:
    zone = SetZone()
    assert zone.ask("default.svc.clusterset.local.")[0] == OK
    assert zone.ask("other.svc.clusterset.local.")[0] == NX
    assert zone.ask("10-1-2-3.default.pod.clusterset.local.")[0] == NX
    assert zone.ask("10-1-2-3.default.pod.cluster.local.")[0] == OK
    assert zone.ask("clusterset.local.", "NS")[1] == [
        "clusterset.local. kube-dns.kube-system.svc.cluster.local."
    ]
    before = dict(zone.beside.names)
    zone.add_import(imported("web", ips=["10.97.0.1"]))
    zone.beside.set_service("default/web", {})
    assert zone.beside.names == before


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("kubernetes cluster.local {\n multicluster\n}", "multicluster"),
        ("kubernetes cluster.local {\n multicluster clusterset.local\n}", "authoritative"),
        ("kubernetes a.local b.local {\n multicluster c.local\n}", "authoritative"),
        ("kubernetes a.local b.local c.local {\n multicluster c.local\n}", "exactly one zone"),
    ],
)
async def test_zones_are_checked(line: str, problem: str) -> None:
    async with Cluster() as cluster:
        server = NameServer(cluster.client, Environment(listen=lambda hosts, port: (("127.0.0.1",), port)))
        with pytest.raises(CorefileError, match=problem):
            await server.load(f".:0 {{\n {line}\n}}\n")
        await server.close()


async def test_names_follow_imports_once_they_are_defined() -> None:
    async with Cluster() as cluster:
        server = NameServer(cluster.client, Environment(listen=lambda hosts, port: (("127.0.0.1",), port)))
        await server.load(COREFILE)
        try:
            await server.wait_synced()  # although nothing defines imports yet
            await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, _definition())
            await cluster.client.create(NAMESPACES, {"metadata": {"name": "team"}})

            async def served() -> object:
                try:
                    return await cluster.client.create(
                        SERVICE_IMPORTS, imported("web", "team", ips=["10.97.0.1"])
                    )
                except Exception:
                    return None

            await eventually(served)
            own = "web.team.svc.clusterset.local"

            async def known(name: str) -> list[str]:
                return (await ask(server.port, name))[1]

            assert await eventually(lambda: known(own)) == [f"{own}. 10.97.0.1"]
            await cluster.client.patch(
                SERVICE_IMPORTS, "web", {"spec": {"type": "Headless", "ips": None}}, "team"
            )
            labels = {"multicluster.kubernetes.io/service-name": "web", records.SOURCE_CLUSTER: "two"}
            meta = {"name": "web-two", "namespace": "team", "labels": labels}
            await cluster.client.create(
                ENDPOINT_SLICES, {**slice_of(("10.2.0.2", "a", True)), "metadata": meta}
            )
            await eventually(lambda: known(f"a.two.{own}"))
            await cluster.client.delete(SERVICE_IMPORTS, "web", "team")

            async def gone() -> bool:
                return (await ask(server.port, own))[0] == wire.NXDOMAIN

            await eventually(gone)
        finally:
            await server.close()


def _definition() -> dict[str, Any]:
    ref = SERVICE_IMPORTS
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": ref.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": ref.plural, "singular": "serviceimport", "kind": ref.kind}
    return {
        "metadata": {"name": f"{ref.plural}.{ref.group}"},
        "spec": {"group": ref.group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
