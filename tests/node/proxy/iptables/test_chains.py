"""The chains that all Services share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pybernetes.node.proxy.iptables.chains import chain_name, node_port_jumps
from tests.node.proxy.service_ports import SETTINGS


def test_chain_names_are_upstreams() -> None:
    # What any Kubernetes cluster has for its own API.
    assert chain_name("SVC", "default/kubernetes:https", "tcp") == "KUBE-SVC-NPX46M4PTMTKRN6Y"


@pytest.mark.parametrize(
    ("selectors", "localhost", "expected"),
    [
        ((), True, ["-m addrtype --dst-type LOCAL"]),
        ((), False, ["! -d 127.0.0.0/8"]),
        (("172.30.0.0/24",), True, ["-d 172.30.0.2"]),
        (("primary",), True, ["-d 172.30.0.2"]),
        (("localhost",), True, ["-d 127.0.0.1"]),
        (("localhost",), False, []),
    ],
)
def test_node_port_jumps(selectors: tuple[str, ...], localhost: bool, expected: list[str]) -> None:
    own = replace(SETTINGS, node_port_addresses=selectors, localhost_node_ports=localhost)
    lines = node_port_jumps(own, 4, ["127.0.0.1", "172.30.0.2", "10.244.0.1", "::1"])
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True))
