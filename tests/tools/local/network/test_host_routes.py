"""Routes of the local cloud for real: three nodes in namespaces on a bridge, each with an address of a pod."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local.host_helper import HostHelper
from pybernetes.tools.local.network import bridge, network
from pybernetes.tools.local.network.host_routes import HostRoutes
from tests.node.proxy.namespaces import command
from tests.support import require_program, require_root
from tests.tools.local.host import host

CLUSTER, RANGE, PODS = "routes", "172.30.8.0/24", "10.244.0.0/16"
NODES = {
    name: f"172.30.8.{number}" for number, name in enumerate((CLUSTER, f"{CLUSTER}-2", f"{CLUSTER}-3"), 2)
}


def cidr(node: str) -> str:
    return f"10.244.{list(NODES).index(node)}.0/24"


@pytest.fixture
def nodes() -> Iterator[dict[str, str]]:
    """Yield the addresses of nodes that have a namespace, and a pod's address inside."""
    require_root()
    require_program("busybox")
    with host("routes", forwards=True), contextlib.ExitStack() as stack:
        bridge.make_bridge(CLUSTER, RANGE, bridge.OpenPorts())
        stack.callback(bridge.remove_bridge, CLUSTER)
        for number, node in enumerate(NODES):
            stack.callback(network.remove_node, CLUSTER, node)
            network.make_node(CLUSTER, node, RANGE, number, [PODS])
            inside = ("ip", "-netns", network.namespace(CLUSTER, node))
            command(*inside, "link", "add", "cni0", "type", "bridge")
            command(*inside, "address", "add", f"10.244.{number}.1/24", "dev", "cni0")
            command(*inside, "link", "set", "cni0", "up")
        yield dict(NODES)


def reaches(node: str, other: str) -> bool:
    """Return whether a pod's address of a node gets an answer of another's."""
    words = ["ip", "netns", "exec", network.namespace(CLUSTER, node), "busybox", "ping", "-c", "1", "-W", "2", "-I",
             cidr(node).replace("0/24", "1"), cidr(other).replace("0/24", "1")]  # fmt: skip
    return subprocess.run(words, capture_output=True).returncode == 0


def ask(helper: HostHelper, **question: object) -> Any:
    answer = helper.answer(json.dumps(question).encode())
    assert isinstance(answer, dict)
    return answer


def test_routes_between_nodes(nodes: dict[str, str]) -> None:
    one, two, three = NODES
    helper = HostHelper(lambda: None, PODS, Path("volumes"), routes=HostRoutes(CLUSTER, PODS, lambda: nodes))
    assert ask(helper, do="routes") == {"routes": []} and not reaches(one, two)
    for node in NODES:
        assert ask(helper, do="route", destination=cidr(node), node=node) == {}
    assert [(route["node"], route["complete"]) for route in ask(helper, do="routes")["routes"]] == [
        (one, True),
        (two, True),
        (three, True),
    ]
    assert reaches(one, two) and reaches(two, three) and reaches(three, one)
    # Somebody takes a route away on one node, as if it were new: it is not complete until it is made again.
    command("ip", "-netns", network.namespace(CLUSTER, three), "route", "delete", cidr(one))
    assert not reaches(three, one)
    assert [route["complete"] for route in ask(helper, do="routes")["routes"]] == [False, True, True]
    ask(helper, do="route", destination=cidr(one), node=one)
    assert reaches(three, one)
    # A node is gone: its route leads to nobody, and can be removed.
    gone = nodes.pop(two)
    stale = next(route for route in ask(helper, do="routes")["routes"] if route["destination"] == cidr(two))
    assert stale["node"] == "" and stale["gateway"] == gone
    assert ask(helper, do="unroute", destination=cidr(two), gateway=gone) == {}
    assert not reaches(one, two) and reaches(one, three)
    # Its range is another's now, which has it itself.
    ask(helper, do="route", destination=cidr(two), node=three)
    assert ask(helper, do="unroute", destination=cidr(two), gateway=gone) == {}
    assert (cidr(two), three, True) in [
        (route["destination"], route["node"], route["complete"])
        for route in ask(helper, do="routes")["routes"]
    ]


@pytest.mark.parametrize(
    "question",
    [
        {"destination": "0.0.0.0/0", "node": CLUSTER},
        {"destination": PODS, "node": CLUSTER},
        {"destination": "192.168.0.0/24", "node": CLUSTER},
        {"destination": "10.244.1.0/24; reboot", "node": CLUSTER},
        {"destination": "-netns", "node": CLUSTER},
        {"destination": ["10.244.1.0/24"], "node": CLUSTER},
        {"destination": "10.244.1.0/24", "node": "8.8.8.8"},
        {"destination": "10.244.1.0/24", "node": ["a"]},
        {"destination": "10.244.1.0/24"},
        {"node": CLUSTER},
    ],
)
def test_what_is_no_route_is_refused(question: dict[str, Any]) -> None:
    routes = HostRoutes(CLUSTER, PODS, lambda: NODES)
    helper = HostHelper(lambda: None, PODS, Path("volumes"), routes=routes)
    assert "refused" in ask(helper, do="route", **question)["error"]
    assert "refused" in ask(HostHelper(lambda: None, PODS, Path("volumes")), do="routes")["error"]
    assert "refused" in ask(helper, do="unroute", destination="10.244.1.0/24", gateway="dev lo")["error"]
