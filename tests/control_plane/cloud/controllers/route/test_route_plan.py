"""Which routes are made and removed, as a table."""

from __future__ import annotations

import ipaddress

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.controllers.route import route_plan
from pybernetes.control_plane.cloud.provider import NodeAddress, Route

CLUSTER = [ipaddress.ip_network("10.244.0.0/16")]


def node(name: str, *cidrs: str, address: str = "10.0.0.1") -> Object:
    status = {"addresses": [{"type": "InternalIP", "address": address}]}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"podCIDRs": list(cidrs)},
        "status": status,
    }


HERE, THERE = (NodeAddress("InternalIP", "10.0.0.1"),), (NodeAddress("InternalIP", "10.0.0.2"),)


@pytest.mark.parametrize(
    ("nodes", "routes", "created", "removed"),
    [
        ([], [], [], []),
        ([node("a")], [], [], []),
        ([node("a", "10.244.0.0/24")], [], ["10.244.0.0/24"], []),
        ([node("a", "10.244.0.0/24")], [Route("10.244.0.0/24", "a")], [], []),
        ([node("a", "10.244.0.0/24")], [Route("10.244.0.0/24", "a", addresses=HERE)], [], []),
        ([node("a", "10.244.0.0/24")], [Route("10.244.0.0/24", "a", addresses=THERE)], ["10.244.0.0/24"], ["10.244.0.0/24"]),
        ([node("a", "10.244.0.0/24")], [Route("10.244.0.0/24", "b")], ["10.244.0.0/24"], ["10.244.0.0/24"]),
        ([node("a", "10.244.0.0/24")], [Route("10.244.0.0/24", "a", blackhole=True)], ["10.244.0.0/24"], ["10.244.0.0/24"]),
        ([], [Route("10.244.7.0/24", "gone")], [], ["10.244.7.0/24"]),
        ([], [Route("192.168.0.0/24", "gone"), Route("nonsense"), Route("fd00::/64")], [], []),
    ],
)  # fmt: skip
def test_plan(nodes: list[Object], routes: list[Route], created: list[str], removed: list[str]) -> None:
    plan = route_plan.plan(nodes, routes, CLUSTER)
    assert [route.destination for _, route in plan.create] == created
    assert [route.destination for route in plan.remove] == removed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "invalid CIDR"),
        ("10.0.0.0/8,10.1.0.0/16", "dual stack"),
        ("10.0.0.0/8,fd00::/48,fd01::/48", "max allowed of 2"),
    ],
)
def test_ranges_of_the_cluster(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        route_plan.cluster_cidrs(text)
    assert len(route_plan.cluster_cidrs("10.0.0.0/8, fd00::/48")) == 2
