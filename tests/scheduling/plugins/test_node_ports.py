"""NodePorts: which ports clash."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from tests.scheduling.asking import put, refused, world
from tests.scheduling.builders import node, pod


@pytest.mark.parametrize(
    ("mine", "theirs", "clash"),
    [
        ({"hostPort": 80}, {"hostPort": 80}, True),
        ({"hostPort": 80}, {"hostPort": 80, "hostIP": "10.0.0.1"}, True),
        ({"hostPort": 80, "hostIP": "10.0.0.2"}, {"hostPort": 80, "hostIP": "10.0.0.1"}, False),
        ({"hostPort": 80}, {"hostPort": 80, "protocol": "UDP"}, False),
        ({"hostPort": 80}, {"hostPort": 81}, False),
    ],
)
def test_ports(mine: Object, theirs: Object, clash: bool) -> None:
    def with_port(name: str, port: Object) -> Object:
        obj = pod(name)
        obj["spec"]["containers"][0]["ports"] = [{"containerPort": 1, **port}]
        return obj

    ours = world(node("n"))
    put(ours, "n", with_port("there", theirs))
    reason = ("node(s) didn't have free ports for the requested pod ports",)
    assert refused(ours, "NodePorts", with_port("p", mine)) == ({"n": reason} if clash else {})
