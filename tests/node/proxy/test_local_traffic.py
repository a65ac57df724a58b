"""How local traffic is distinguished."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.proxy import config
from pybernetes.node.proxy.local_traffic import LocalTraffic, detect_local_traffic
from pybernetes.node.proxy.node import Node


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"clusterCIDR": "10.0.0.0/8"}, LocalTraffic(ranges=("10.0.0.0/8",))),
        ({"detectLocalMode": "NodeCIDR"}, LocalTraffic(ranges=("10.244.1.0/24",))),
        (
            {"detectLocalMode": "BridgeInterface", "detectLocal": {"bridgeInterface": "cni0"}},
            LocalTraffic(interface="cni0"),
        ),
        (
            {"detectLocalMode": "InterfaceNamePrefix", "detectLocal": {"interfaceNamePrefix": "veth"}},
            LocalTraffic(interface="veth+"),
        ),
        ({}, LocalTraffic()),
    ],
)
def test_local_traffic(given: dict[str, Any], expected: LocalTraffic) -> None:
    assert (
        detect_local_traffic(config.completed(given), Node("here", pod_ranges=("10.244.1.0/24",))) == expected
    )
