"""For whom endpoints are meant."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.endpointslice import hints, plan
from pybernetes.control_plane.controllers.endpointslice.plan import Plan
from tests.control_plane.controllers.services import node, pod, service

NODES = [node("node-a", "a"), node("node-b", "b"), node("node-c", "c")]
AUTO = {"service.kubernetes.io/topology-mode": "Auto"}


def planned(pods: list[Object], existing: list[Object] | None = None, **spec: Any) -> tuple[Object, Plan]:
    web = service(**spec)
    nodes = {node_name["metadata"]["name"]: node_name for node_name in NODES}
    return web, plan.plan(web, "IPv4", pods, nodes.get, existing or [], 100)


def zones(slices: list[Object]) -> list[tuple[str, list[str]]]:
    return [
        (endpoint["zone"], [zone["name"] for zone in endpoint.get("hints", {}).get("forZones", [])])
        for slice_ in slices
        for endpoint in slice_["endpoints"]
    ]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("", None),
        ("PreferClose", {"forZones": [{"name": "a"}]}),
        ("PreferSameZone", {"forZones": [{"name": "a"}]}),
        ("PreferSameNode", {"forZones": [{"name": "a"}], "forNodes": [{"name": "node-a"}]}),
        ("Unknown", None),
    ],
)
def test_traffic_distribution(wanted: str, expected: Object | None) -> None:
    web, todo = planned(
        [pod(0, node="node-a"), pod(1, node="node-a", ready=False)], trafficDistribution=wanted
    )
    hints.Topology().apply("default/web", "IPv4", web, todo)
    first, second = todo.create[0]["endpoints"]
    assert first.get("hints") == expected
    assert "hints" not in second


def test_unchanged_slices_get_and_lose_hints() -> None:
    _, todo = planned([pod(0, node="node-a")])
    [slice_] = todo.create
    slice_ = {**slice_, "metadata": {**slice_["metadata"], "name": "web-1"}}
    web, todo = planned([pod(0, node="node-a")], [slice_], trafficDistribution="PreferClose")
    hints.Topology().apply("default/web", "IPv4", web, todo)
    [changed] = todo.update
    assert zones([changed]) == [("a", ["a"])]
    web, todo = planned([pod(0, node="node-a")], [changed], trafficDistribution="PreferClose")
    hints.Topology().apply("default/web", "IPv4", web, todo)
    assert todo.update == []
    web, todo = planned([pod(0, node="node-a")], [changed])
    hints.Topology().apply("default/web", "IPv4", web, todo)
    assert zones(todo.update) == [("a", [])]


def processors(*nodes: dict[str, Any]) -> hints.Processors:
    result = hints.Processors()
    for obj in nodes:
        result.change(None, obj)
    return result


def test_processor_shares() -> None:
    assert processors(*NODES).shares() == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert processors(node("x", "a", "1"), node("y", "b", "3")).shares() == {"a": 0.25, "b": 0.75}
    assert processors(node("x", "a")).shares() is None
    assert processors(*NODES, node("no-zone")).shares() is None
    assert processors(*NODES, node("no-zone", ready=False)).shares() is not None
    role: Any = {"node-role.kubernetes.io/control-plane": ""}
    control_plane = node("x", **role)
    assert processors(*NODES, control_plane).shares() is not None
    known = processors(node("x", "a", "1"), node("y", "b", "3"), node("z", "c", "4"), node("no-zone"))
    known.change(node("no-zone"), None)
    known.change(node("z", "c", "4"), node("z", "b", "4"))
    known.change(node("y", "b", "3"), node("y", "b", "3", ready=False))
    assert known.shares() == {"a": 0.2, "b": 0.8}


def test_allocations_and_moves() -> None:
    even = {"a": 0.5, "b": 0.5}
    assert hints.allocations(even, 1)[1] == "Insufficient number of endpoints (1 endpoints, 2 zones)"
    assert "exceeding overload threshold (3 endpoints, 2 zones)" in hints.allocations(even, 3)[1]
    allocations, why = hints.allocations(even, 10)
    assert why == ""
    assert allocations == {"a": (5, 5.0), "b": (5, 5.0)}
    giving, receiving = hints.moves(allocations, {"a": 8, "b": 2})
    assert (giving, receiving) == (Counter(a=3), Counter(b=3))
    assert hints.moves(allocations, {"a": 5, "b": 5}) == (Counter(), Counter())


def test_annotation_shares_endpoints_among_zones() -> None:
    topology = hints.Topology()
    topology.processors = processors(*NODES)
    pods = [pod(number, node="node-a" if number < 4 else "node-b") for number in range(6)]
    web, todo = planned(pods)
    web["metadata"]["annotations"] = AUTO
    events = topology.apply("default/web", "IPv4", web, todo)
    assert events == [
        ("Normal", "TopologyAwareHintsEnabled", "Topology Aware Hints has been enabled, addressType: IPv4")
    ]
    given = Counter(zone for _, [zone] in zones(todo.create))
    assert given == {"a": 2, "b": 2, "c": 2}
    assert topology.overloaded() == []
    # Another node in one zone: what was given does not fit any more.
    topology.processors.change(None, node("more", "c", "20"))
    assert topology.overloaded() == ["default/web"]
    # Too few endpoints, and no annotation any more.
    web, todo = planned(pods[:2])
    web["metadata"]["annotations"] = AUTO
    [(_, reason, message)] = topology.apply("default/web", "IPv4", web, todo)
    assert (reason, message) == (
        "TopologyAwareHintsDisabled",
        "Insufficient number of endpoints (2 endpoints, 3 zones), addressType: IPv4",
    )
    assert zones(todo.create) == [("a", []), ("a", [])]
    topology.processors.change(None, node("no-zone"))
    [(_, _, message)] = topology.apply("default/web", "IPv4", web, todo)
    assert message.startswith("Insufficient Node information")
