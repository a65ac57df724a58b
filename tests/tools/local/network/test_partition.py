"""Nodes that are cut off from others: the rules that follow, and packets that do not arrive."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

import pytest

from pybernetes.tools.local.network import bridge, network, partition
from pybernetes.tools.local.network.bridge import OpenPorts
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeSettings, Settings, SettingsError
from tests.node.proxy.namespaces import inside
from tests.support import require_program, require_root
from tests.tools.local.host import host

RANGE = "172.30.79.0/24"


def settings(cluster: str = "c", **apart: list[str]) -> Settings:
    """Return a cluster of three nodes; each keyword is a letter for one, with what it is cut off from."""
    names = dict(zip("abc", (cluster, f"{cluster}-2", f"{cluster}-3"), strict=True))
    nodes = [
        NodeSettings(name, number, apart=[names.get(other, other) for other in apart.get(letter, ())])
        for number, (letter, name) in enumerate(names.items())
    ]
    return Settings(nodes=nodes, node_range=RANGE)


@pytest.mark.parametrize(
    ("apart", "lines"),
    [
        ({}, []),
        ({"a": ["*"]}, ['drop', 'drop']),
        ({"b": ["*"]}, []),  # which drops everything itself
        ({"a": ["b"]}, ['ether saddr 0a:70:ac:1e:4f:03 drop']),
        ({"c": ["a"]}, ['ether saddr 0a:70:ac:1e:4f:04 drop']),
        ({"b": ["c"]}, []),
        ({"a": ["@host"]}, ['ether saddr 0a:70:ac:1e:4f:01 drop',
                            'ip daddr 172.30.79.1 drop', 'arp daddr ip 172.30.79.1 drop']),
    ],
)  # fmt: skip
def test_rules_of_a_node(apart: dict[str, list[str]], lines: list[str]) -> None:
    text = partition.rules(settings("c", **apart), "c")
    assert [line.strip() for line in text.splitlines() if "drop" in line] == lines


def test_what_cannot_be_cut_off() -> None:
    for name, others in (("nobody", []), ("c", ["nobody"]), ("c", ["c"])):
        with pytest.raises(SettingsError):
            partition.check(settings(), name, others)
    partition.check(settings(), "c", ["c-2", "@host"])
    with pytest.raises(SettingsError):
        partition.check(Settings(nodes=[NodeSettings("c", 0)], host_network=True), "c", [])


def _reaches(namespace: str, address: str) -> bool:
    with inside(namespace) if namespace else contextlib.nullcontext(), socket.socket() as probe:
        probe.settimeout(0.3)
        return probe.connect_ex((address, 10250)) == 0


def test_packets_stay_away(tmp_path: Path) -> None:
    require_root()
    for program in ("nft", "ip", "iptables"):
        require_program(program)
    name = f"apart{os.getpid() % 100000}"
    cluster, nodes = Cluster(name, tmp_path), [name, f"{name}-2", f"{name}-3"]
    with host(f"host{name}", forwards=True), contextlib.ExitStack() as stack:
        stack.callback(bridge.remove_bridge, name)
        bridge.make_bridge(name, RANGE, OpenPorts((10250,)))
        for number, node in enumerate(nodes):
            stack.callback(network.remove_node, name, node)
            network.make_node(name, node, RANGE, number)
            with inside(network.namespace(name, node)):
                stack.enter_context(socket.create_server(("0.0.0.0", 10250)))
        stack.enter_context(socket.create_server((network.gateway(RANGE), 10250)))
        places = ["", *(network.namespace(name, node) for node in nodes)]
        addresses = [network.gateway(RANGE), *(network.address(RANGE, number) for number in range(3))]

        def silent(**apart: list[str]) -> set[str]:
            """Return the pairs that do not reach each other: h is this machine, and a, b, c are the nodes."""
            partition.apply(cluster, settings(name, **apart))
            return {
                f"{one}{other}"
                for one, place in zip("habc", places, strict=True)
                for other, address in zip("habc", addresses, strict=True)
                if one != other and not _reaches(place, address)
            }

        assert silent() == set()
        assert silent(a=["b"]) == {"ab", "ba"}
        assert silent(a=["*"]) == {"ab", "ba", "ac", "ca", "ah", "ha"}
        assert silent(c=["@host"]) == {"ch", "hc"}
        assert silent() == set()
