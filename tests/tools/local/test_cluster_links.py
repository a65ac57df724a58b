"""Ways between the pods of two clusters of one machine."""

from __future__ import annotations

import contextlib
import os
import socket

import pytest

from pybernetes.tools.local import cluster_links, network
from pybernetes.tools.local.network import OpenPorts
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


def test_routes_are_of_the_family_of_the_pods() -> None:
    addresses = [
        {"type": "Hostname", "address": "n"},
        {"type": "InternalIP", "address": "172.30.1.2"},
        {"type": "InternalIP", "address": "fd00::2"},
    ]
    node = {
        "spec": {"podCIDRs": ["fd00:1::/64", "10.1.0.0/24"]},
        "status": {"addresses": addresses},
    }
    assert cluster_links.routes([node, {"spec": {}, "status": {}}, {}]) == [
        ("fd00:1::/64", "fd00::2"), ("10.1.0.0/24", "172.30.1.2"),
    ]  # fmt: skip


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
    with host(f"host{number}"), contextlib.ExitStack() as stack:
        known = {}
        for cluster, (nodes, pods) in made.items():
            stack.callback(network.remove_bridge, cluster)
            network.make_bridge(cluster, nodes, OpenPorts())
            stack.callback(network.remove_node, cluster, cluster)
            network.make_node(cluster, cluster, nodes, 0)
            pod, node = pods.replace("0/24", "9"), network.address(nodes, 0)
            with inside(network.namespace(cluster, cluster)):
                command("ip", "address", "add", f"{pod}/32", "dev", "lo")
                for address in (pod, node):
                    stack.enter_context(socket.create_server((address, 8080))).listen()
            entry = {"type": "InternalIP", "address": node}
            known[cluster] = (
                settings(pods, nodes),
                [{"spec": {"podCIDRs": [pods]}, "status": {"addresses": [entry]}}],
            )
        first, second = made
        with inside(network.namespace(first, first)):
            assert not _is_reached("10.79.0.9")
        for _ in range(2):  # a second time changes nothing
            cluster_links.connect(known)
        with inside(network.namespace(first, first)):
            assert _is_reached("10.79.0.9") and not _is_reached("172.30.79.2")
        with inside(network.namespace(second, second)):
            assert _is_reached("10.78.0.9")
        network.remove_node(first, first)
        network.remove_bridge(first)
        assert first not in network.run("iptables-save") and second in network.run("iptables-save")
