"""For whom endpoints are meant."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pybernetes.control_plane.controllers.endpointslice import hints, plan
from pybernetes.control_plane.controllers.endpointslice.plan import Plan
from tests.control_plane.controllers.services import Object, node, pod, service

NODES = [node("node-a", "a"), node("node-b", "b"), node("node-c", "c")]
AUTO = {"service.kubernetes.io/topology-mode": "Auto"}


def planned(pods: list[Object], existing: list[Object] | None = None, **spec: Any) -> tuple[Object, Plan]:
    web = service(**spec)
    nodes = {each["metadata"]["name"]: each for each in NODES}
    return web, plan.plan(web, "IPv4", pods, nodes.get, existing or [], 100)


def zones(slices: list[Object]) -> list[tuple[str, list[str]]]:
    return [
        (each["zone"], [zone["name"] for zone in each.get("hints", {}).get("forZones", [])])
        for slice_ in slices
        for each in slice_["endpoints"]
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
    web, found = planned(
        [pod(0, node="node-a"), pod(1, node="node-a", ready=False)], trafficDistribution=wanted
    )
    hints.Topology().apply("default/web", "IPv4", web, found)
    first, second = found.create[0]["endpoints"]
    assert first.get("hints") == expected
    assert "hints" not in second


def test_unchanged_slices_get_and_lose_hints() -> None:
    _, found = planned([pod(0, node="node-a")])
    [slice_] = found.create
    slice_ = {**slice_, "metadata": {**slice_["metadata"], "name": "web-1"}}
    web, found = planned([pod(0, node="node-a")], [slice_], trafficDistribution="PreferClose")
    hints.Topology().apply("default/web", "IPv4", web, found)
    [changed] = found.update
    assert zones([changed]) == [("a", ["a"])]
    web, found = planned([pod(0, node="node-a")], [changed], trafficDistribution="PreferClose")
    hints.Topology().apply("default/web", "IPv4", web, found)
    assert found.update == []
    web, found = planned([pod(0, node="node-a")], [changed])
    hints.Topology().apply("default/web", "IPv4", web, found)
    assert zones(found.update) == [("a", [])]


def processors(*nodes: dict[str, Any]) -> hints.Processors:
    found = hints.Processors()
    for each in nodes:
        found.change(None, each)
    return found


def test_processor_shares() -> None:
    assert processors(*NODES).shares() == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert processors(node("x", "a", "1"), node("y", "b", "3")).shares() == {"a": 0.25, "b": 0.75}
    assert processors(node("x", "a")).shares() is None
    assert processors(*NODES, node("no-zone")).shares() is None
    assert processors(*NODES, node("no-zone", ready=False)).shares() is not None
    control_plane = node("x", **{"node-role.kubernetes.io/control-plane": ""})
    assert processors(*NODES, control_plane).shares() is not None
    found = processors(node("x", "a", "1"), node("y", "b", "3"), node("z", "c", "4"), node("no-zone"))
    found.change(node("no-zone"), None)
    found.change(node("z", "c", "4"), node("z", "b", "4"))
    found.change(node("y", "b", "3"), node("y", "b", "3", ready=False))
    assert found.shares() == {"a": 0.2, "b": 0.8}


def test_allocations_and_moves() -> None:
    even = {"a": 0.5, "b": 0.5}
    assert hints.allocations(even, 1)[1] == "Insufficient number of endpoints (1 endpoints, 2 zones)"
    assert "exceeding overload threshold (3 endpoints, 2 zones)" in hints.allocations(even, 3)[1]
    found, why = hints.allocations(even, 10)
    assert why == ""
    assert found == {"a": (5, 5.0), "b": (5, 5.0)}
    giving, receiving = hints.moves(found, {"a": 8, "b": 2})
    assert (giving, receiving) == (Counter(a=3), Counter(b=3))
    assert hints.moves(found, {"a": 5, "b": 5}) == (Counter(), Counter())


def test_annotation_shares_endpoints_among_zones() -> None:
    topology = hints.Topology()
    topology.processors = processors(*NODES)
    pods = [pod(number, node="node-a" if number < 4 else "node-b") for number in range(6)]
    web, found = planned(pods)
    web["metadata"]["annotations"] = AUTO
    events = topology.apply("default/web", "IPv4", web, found)
    assert events == [
        ("Normal", "TopologyAwareHintsEnabled", "Topology Aware Hints has been enabled, addressType: IPv4")
    ]
    given = Counter(zone for _, [zone] in zones(found.create))
    assert given == {"a": 2, "b": 2, "c": 2}
    assert topology.overloaded() == []
    # Another node in one zone: what was given does not fit any more.
    topology.processors.change(None, node("more", "c", "20"))
    assert topology.overloaded() == ["default/web"]
    # Too few endpoints, and no annotation any more.
    web, found = planned(pods[:2])
    web["metadata"]["annotations"] = AUTO
    [(_, reason, message)] = topology.apply("default/web", "IPv4", web, found)
    assert (reason, message) == (
        "TopologyAwareHintsDisabled",
        "Insufficient number of endpoints (2 endpoints, 3 zones), addressType: IPv4",
    )
    assert zones(found.create) == [("a", []), ("a", [])]
    topology.processors.change(None, node("no-zone"))
    [(_, _, message)] = topology.apply("default/web", "IPv4", web, found)
    assert message.startswith("Insufficient Node information")
