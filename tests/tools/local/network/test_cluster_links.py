"""Ways between the pods of two clusters of one machine."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.network import bridge, cluster_links, network
from pybernetes.tools.local.network.bridge import OpenPorts
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings
from tests.node.proxy.namespaces import command, inside
from tests.support import require_program, require_root
from tests.tools.local.host import host


def settings(pods: str, nodes: str, services: str = "10.96.0.0/16") -> Settings:
    return Settings(pod_range=pods, node_range=nodes, service_range=services)


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (settings("10.2.0.0/16", "172.30.2.0/24"), ""),
        (settings("10.1.128.0/17", "172.30.2.0/24"), "pods of a (10.1.0.0/16) and pods of b (10.1.128.0/17)"),
        (settings("10.96.4.0/24", "172.30.2.0/24", "10.9.0.0/16"), "services of a (10.96.0.0/16) and pods of b"),
        (settings("10.2.0.0/16", "172.30.1.0/24"), "nodes of a (172.30.1.0/24) and nodes of b"),
        (settings("10.2.0.0/16", "172.30.2.0/24", "10.1.0.0/20"), "pods of a (10.1.0.0/16) and services of b"),
        (settings("fd00:2::/56", "172.30.2.0/24", "fd00:3::/112"), ""),
    ],
)  # fmt: skip
def test_addresses_that_two_clusters_have(other: Settings, problem: str) -> None:
    text = cluster_links.overlap({"a": settings("10.1.0.0/16", "172.30.1.0/24"), "b": other})
    assert text.startswith(problem) and bool(text) is bool(problem)


def node(pods: list[str], *addresses: str) -> dict[str, Any]:
    listed = [{"type": "InternalIP", "address": text} for text in addresses]
    return {
        "metadata": {"name": "n"},
        "spec": {"podCIDRs": pods},
        "status": {"addresses": [{"type": "Hostname", "address": "n"}, *listed]},
    }


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([node(["fd00:1:1::/64", "10.1.3.0/24"], "172.30.1.2", "fd00:9::2")], {"fd00:1:1::/64": "fd00:9::2", "10.1.3.0/24": "172.30.1.2"}),
        ([{"spec": {}, "status": {}}, {}, node(["10.1.3.0/24"])], {}),
        # What a cluster says of itself leads nothing of others to it.
        ([node(["0.0.0.0/0"], "172.30.1.2")], {}),
        ([node(["10.2.0.0/24", "10.0.0.0/15", "10.1.0.0/15", "x"], "172.30.1.2")], {}),
        ([node(["10.1.3.0/24"], "172.30.2.2")], {}),
        ([node(["10.1.3.0/24"], "8.8.8.8", "172.30.1.3")], {"10.1.3.0/24": "172.30.1.3"}),
    ],
)  # fmt: skip
def test_routes_are_of_the_clusters_own_ranges(nodes: list[dict[str, Any]], expected: dict[str, str]) -> None:
    known = Settings(
        pod_range="10.1.0.0/16,fd00:1::/32", node_range="172.30.1.0/24", node_range_v6="fd00:9::/64",
        ip_family="dual",
    )  # fmt: skip
    assert cluster_links.routes(known, nodes) == expected


def test_connected_is_what_both_say_and_what_does_not_overlap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYBERNETES_HOME", str(tmp_path))

    def make(name: str, pods: str, nodes: str, *others: str) -> Settings:
        own = Settings(pod_range=pods, node_range=nodes, connected=list(others))
        Cluster(name).settings.parent.mkdir(parents=True, exist_ok=True)
        saved_settings.save(Cluster(name), own)
        return own

    known = make("a", "10.1.0.0/16", "172.30.1.0/24", "b", "gone", "again")
    make("b", "10.2.0.0/16", "172.30.2.0/24", "a")
    make("again", "10.1.0.0/16", "172.30.3.0/24")  # one that was made anew under an old name
    assert list(cluster_links.connected(Cluster("a"), known)) == ["b"]
    make("b", "10.1.0.0/17", "172.30.2.0/24", "a")
    assert cluster_links.connected(Cluster("a"), known) == {}


def _is_reached(address: str) -> bool:
    with socket.socket() as client:
        client.settimeout(0.4)
        try:
            client.connect((address, 8080))
            return True
        except OSError:
            return False


def test_pods_are_reached_once_clusters_are_connected_and_nodes_are_not() -> None:
    require_root()
    require_program("iptables")
    require_program("ip")
    number = os.getpid() % 100000
    made = {
        f"la{number}": ("172.30.78.0/24", "10.78.0.0/24"),
        f"lb{number}": ("172.30.79.0/24", "10.79.0.0/24"),
    }
    with host(f"host{number}", forwards=True), contextlib.ExitStack() as stack:
        known = {}
        for cluster, (nodes, pods) in made.items():
            stack.callback(bridge.remove_bridge, cluster)
            bridge.make_bridge(cluster, nodes, OpenPorts())
            stack.callback(network.remove_node, cluster, cluster)
            network.make_node(cluster, cluster, nodes, 0)
            pod, own = pods.replace("0/24", "9"), network.address(nodes, 0)
            with inside(network.namespace(cluster, cluster)):
                command("ip", "address", "add", f"{pod}/32", "dev", "lo")
                for address in (pod, own):
                    stack.enter_context(socket.create_server((address, 8080))).listen()
            known[cluster] = settings(pods, nodes)
        first, second = made
        with inside(network.namespace(first, first)):
            assert not _is_reached("10.79.0.9")
        for _ in range(2):  # a second time changes nothing
            for cluster, (nodes, pods) in made.items():
                others = {name: its for name, its in known.items() if name != cluster}
                cluster_links.lead(
                    cluster, cluster_links.routes(known[cluster], [node([pods], network.address(nodes, 0))])
                )
                cluster_links.open_ways(cluster, known[cluster], others)
        with inside(network.namespace(first, first)):
            assert _is_reached("10.79.0.9") and not _is_reached("172.30.79.2")
        with inside(network.namespace(second, second)):
            assert _is_reached("10.78.0.9")
        assert not cluster_links.open_ways(first, known[first], {second: known[second]})
        # Nodes come and go, and the routes with them; others' routes stay.
        cluster_links.lead(second, {"10.79.0.128/25": network.address("172.30.79.0/24", 1)})
        assert "10.79.0.0/24" not in network.run("ip", "route")
        assert "10.79.0.128/25" in network.run("ip", "route") and "10.78.0.0/24" in network.run("ip", "route")
        network.remove_node(first, first)
        bridge.remove_bridge(first)
        assert first not in network.run("iptables-save") and second in network.run("iptables-save")
