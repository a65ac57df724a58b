"""Which addresses node ports are served on."""

from __future__ import annotations

from pybernetes.node.proxy.node_port_addresses import node_port_ips
from tests.node.proxy.service_ports import NODE


def test_node_port_ips() -> None:
    own = ["127.0.0.1", "172.30.0.2", "::1", "fd00::2"]
    assert node_port_ips(("all",), NODE, 4, own) is None
    assert node_port_ips(("0.0.0.0/0",), NODE, 4, own) is None
    assert node_port_ips(("fd00::/8", "127.0.0.0/8"), NODE, 4, own) == ["127.0.0.1"]
    assert node_port_ips(("fd00::/8",), NODE, 6, own) == ["fd00::2"]
