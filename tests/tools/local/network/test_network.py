"""Ranges, addresses and namespaces of a cluster."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

import pytest

from pybernetes.tools.local.network import bridge, network
from pybernetes.tools.local.network.bridge import OpenPorts
from pybernetes.tools.local.settings import HollowNode, NodeGroup, NodeSettings, Settings
from tests.node.proxy.namespaces import command, inside
from tests.support import require_program, require_root, until
from tests.tools.local.host import ADDRESS, host


def test_a_range_that_nobody_has() -> None:
    first = network.free_range("one", [])
    assert first.startswith("172.30.") and first.endswith(".0/24")
    assert network.free_range("one", ["127.0.0.1/8", "::1/128"]) == first
    second = network.free_range("one", [f"{network.gateway(first)}/24"])
    assert second != first and network.free_range("other", []) != first
    with pytest.raises(OSError, match="no free range"):
        network.free_range("one", ["172.30.0.1/16"])


def test_addresses_of_a_range() -> None:
    assert (
        network.gateway("172.30.9.0/24") == "172.30.9.1"
        and network.address("172.30.9.0/24", 0) == "172.30.9.2"
    )
    assert network.cluster_dns(Settings()) == "10.96.0.10"


def test_zones_of_nodes_by_turns_or_by_their_labels() -> None:
    groups = [
        NodeGroup("east", labels={"topology.kubernetes.io/zone": "east-1"}),
        NodeGroup("far", hollow=True, labels={"topology.kubernetes.io/region": "moon"}),
    ]
    own = NodeSettings("c-4", 3, labels={"topology.kubernetes.io/zone": "own"})
    settings = Settings(
        nodes=[NodeSettings("c", 0), NodeSettings("c-2", 1), NodeSettings("c-3", 2, group="east"), own],
        node_groups=groups, hollow=3, hollow_nodes=[HollowNode("hollow-far-0", "far")], zones=2,
        node_range="172.30.9.0/24",
    )  # fmt: skip

    def place(name: str) -> tuple[object, object]:
        known = network.instance(settings, name)
        assert known is not None
        return known["zone"], known["region"]

    names = ("c", "c-2", "c-3", "c-4", "hollow-1", "hollow-far-0")
    zones = ("local-1", "local-2", "east-1", "own", "local-2", "local-1")
    assert [place(name) for name in names] == [*((zone, "") for zone in zones[:-1]), ("local-1", "moon")]
    assert network.instance(settings, "hollow-3") is None and network.instance(settings, "other") is None


def test_which_namespaces_are_those_of_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_NAMESPACES", tmp_path)
    for name in ("pyb-a-a", "pyb-a-a-2", "pyb-a-a-a-a", "pyb-a-2-a-2", "pyb-a-b", "cni-1"):
        (tmp_path / name).touch()
    assert network.nodes("a") == {"a", "a-2"}
    assert network.nodes("a-a") == {"a-a"}
    assert network.nodes("a-2") == {"a-2"}
    assert network.nodes("b") == set()


def _is_reached(address: str, port: int) -> bool:
    """Return whether somebody listens there, and may be reached."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as client:
        client.settimeout(0.4)
        try:
            client.connect((address, port))
            return True
        except OSError:
            return False


def _accepts_routers(namespace: str, link: str) -> str:
    """Return whether a link takes a router that announces itself; empty without IPv6."""
    with inside(namespace) if namespace else contextlib.nullcontext():
        path = Path(f"/proc/sys/net/ipv6/conf/{link}/accept_ra")
        return path.read_text().strip() if path.exists() else ""


def _connections(family: str) -> str:
    """Return what this machine remembers of connections."""
    return command("conntrack", "-L", "-f", family)


def test_nodes_reach_the_open_ports_of_this_machine_and_no_others() -> None:
    """A machine whose packet filter lets nobody in: a cluster must not open it for its pods.

    CVE-2020-10749, CVE-2020-13401: nor does a node become the machine's router by announcing itself.
    """
    require_root()
    for program in ("iptables", "ip", "conntrack"):
        require_program(program)
    cluster, node_range = f"net{os.getpid() % 100000}", "172.30.77.0/24"
    gateway, node = network.gateway(node_range), network.address(node_range, 0)
    with host(f"host{cluster}", forwards=True):
        command("iptables", "-P", "INPUT", "DROP")
        with contextlib.ExitStack() as stack:
            stack.callback(bridge.remove_bridge, cluster)
            # Other ports at first, which must not stay open.
            bridge.make_bridge(cluster, node_range, OpenPorts((22222,), (22222,)))
            bridge.make_bridge(cluster, node_range, OpenPorts((6443, 10053), (10053,)))
            stack.callback(network.remove_node, cluster, cluster)
            network.make_node(cluster, cluster, node_range, 0)
            for port in (6443, 10053, 22222):
                listener = stack.enter_context(socket.create_server(("0.0.0.0", port)))
                listener.listen()
            with inside(network.namespace(cluster, cluster)):
                own = stack.enter_context(socket.create_server(("0.0.0.0", 10250)))
                own.listen()
                assert _is_reached(gateway, 6443) and _is_reached(gateway, 10053)
                assert not _is_reached(gateway, 22222)
                # Nor the same ports at another address of the machine, where others listen.
                assert not _is_reached(ADDRESS, 6443)
            assert _is_reached(node, 10250)  # what this machine asks for is answered
            links = {"": network.bridge_name(cluster), network.namespace(cluster, cluster): "eth0"}
            for namespace, link in links.items():
                assert _accepts_routers(namespace, link) in ("0", "")
            assert gateway in _connections("ipv4")
        assert gateway not in _connections("ipv4")
        command("iptables", "-P", "INPUT", "ACCEPT")


def test_ipv6_of_a_cluster_on_a_machine_without() -> None:
    """Where links get no IPv6 by default, as in many containers, those of a cluster that asks for it have it."""
    require_root()
    for program in ("ip", "conntrack"):
        require_program(program)
    cluster, ranges = f"net{os.getpid() % 100000}", ("172.30.77.0/24", "fd00:77::/64")
    with host(f"host{cluster}", forwards=True):
        for place in ("all", "default"):
            command("sysctl", "-qw", f"net.ipv6.conf.{place}.disable_ipv6=1")
        with contextlib.ExitStack() as stack:
            stack.callback(bridge.remove_bridge, cluster)
            bridge.make_bridge(cluster, ranges[0], OpenPorts((6443,)), ranges[1])
            stack.callback(network.remove_node, cluster, cluster)
            network.make_node(cluster, cluster, ranges[0], 0, node_range_v6=ranges[1])
            listener = stack.enter_context(socket.create_server(("::", 6443), family=socket.AF_INET6))
            listener.listen()
            with inside(network.namespace(cluster, cluster)):
                until(lambda: _is_reached(network.gateway(ranges[1]), 6443))
            assert network.gateway(ranges[1]) in _connections("ipv6")
        assert network.gateway(ranges[1]) not in _connections("ipv6")
        for place in ("all", "default"):
            command("sysctl", "-qw", f"net.ipv6.conf.{place}.disable_ipv6=0")
