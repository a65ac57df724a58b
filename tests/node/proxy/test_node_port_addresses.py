"""Which addresses node ports are served on."""

from __future__ import annotations

import pytest

from pybernetes.node.proxy.node_port_addresses import health_check_ips, node_port_ips
from tests.node.proxy.service_ports import NODE


def test_node_port_ips() -> None:
    own = ["127.0.0.1", "172.30.0.2", "::1", "fd00::2"]
    assert node_port_ips(("all",), NODE, 4, own) is None
    assert node_port_ips(("0.0.0.0/0",), NODE, 4, own) is None
    assert node_port_ips(("fd00::/8", "127.0.0.0/8"), NODE, 4, own) == ["127.0.0.1"]
    assert node_port_ips(("fd00::/8",), NODE, 6, own) == ["fd00::2"]


@pytest.mark.parametrize(
    ("selectors", "addresses", "expected"),
    [
        (("all",), (), ["0.0.0.0"]),  # the node is not known yet
        (("all",), ("172.30.0.2",), ["0.0.0.0"]),
        (("all",), ("172.30.0.2", "fd00::2"), ["::"]),
        (("all",), ("fd00::2",), ["::"]),
        (("primary",), ("172.30.0.2", "fd00::2"), ["172.30.0.2", "fd00::2"]),
        (("0.0.0.0/0",), ("172.30.0.2", "fd00::2"), ["0.0.0.0"]),
        (("172.30.0.0/16", "::/0"), ("172.30.0.2", "fd00::2"), ["172.30.0.2", "::1", "fd00::2"]),
        (("fd00::/8",), ("172.30.0.2",), []),
    ],
)
def test_health_check_ips(
    selectors: tuple[str, ...], addresses: tuple[str, ...], expected: list[str]
) -> None:
    own = ["127.0.0.1", "172.30.0.2", "::1", "fd00::2", "fe80::1"]
    assert health_check_ips(selectors, NODE._replace(addresses=addresses), own) == expected
