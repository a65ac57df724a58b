"""What kube-proxy reads of its Node object."""

from __future__ import annotations

from pybernetes.node.proxy.node import Node, node_of


def test_node_of() -> None:
    assert node_of("here", None) == Node("here")
    obj = {
        "metadata": {"name": "here", "labels": {"topology.kubernetes.io/zone": "z1"}},
        "spec": {"podCIDR": "10.244.1.0/24"},
        "status": {"addresses": [{"type": "Hostname", "address": "here"}, {"type": "InternalIP", "address": "172.30.0.2"}]},
    }  # fmt: skip
    assert node_of("here", obj) == Node("here", "z1", ("172.30.0.2",), ("10.244.1.0/24",))
