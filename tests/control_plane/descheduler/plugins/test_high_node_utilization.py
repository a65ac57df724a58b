"""HighNodeUtilization: nearly empty nodes are emptied; cases of upstream's tests."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from tests.control_plane.descheduler.worlds import gone, node, pod, pods

AMOUNTS = {"cpu": "4", "memory": "3000", "pods": "10"}
NODES = [node(name, amounts=AMOUNTS) for name in ("n1", "n2", "n3")]
NODES[2]["spec"]["unschedulable"] = True


def high(
    there: list[Object], nodes: list[Object] = NODES, evictor: Any = None, **arguments: Any
) -> list[str]:
    return gone(
        nodes, there, {"HighNodeUtilization": {"thresholds": {"cpu": 40, "pods": 40}, **arguments}}, evictor
    )


FULL = pods(5, "n2", cpu="400m")


def test_pods_of_nearly_empty_nodes_leave() -> None:
    assert high([*pods(2, "n1", cpu="400m"), *FULL]) == ["n1-0", "n1-1"]


def test_all_nodes_are_full_enough() -> None:
    assert high([*pods(5, "n1", cpu="400m"), *FULL, *pods(5, "n3", cpu="400m")]) == []


def test_no_node_to_go_to() -> None:
    assert high([*pods(1, "n1", cpu="400m"), *pods(5, "n3", cpu="400m")], nodes=[NODES[0], NODES[2]]) == []


def test_room_runs_out() -> None:
    there = [*pods(3, "n1", cpu="400m"), *pods(9, "n2", cpu="400m")]
    assert len(high(there, nodes=NODES[:2])) == 1


def test_number_of_nodes_and_namespaces() -> None:
    there = [*pods(2, "n1", cpu="400m"), *FULL]
    assert high(there, numberOfNodes=2) == []
    assert high(there, evictableNamespaces={"exclude": ["default"]}) == []


def test_only_pods_that_ask_for_what_counts() -> None:
    there = [pod("asks", cpu="400m"), pod("does-not", cpu=""), *FULL]
    assert high(there, evictionModes=["OnlyThresholdingResources"]) == ["asks"]


def test_extended_resources() -> None:
    nodes = [node(name, amounts={**AMOUNTS, "example.com/foo": "8"}) for name in ("n1", "n2")]

    def asking(name: str, on: str) -> Object:
        result = pod(name, on)
        result["spec"]["containers"][0]["resources"]["requests"]["example.com/foo"] = "1"
        return result

    there = [asking("a", "n1"), asking("b", "n1"), *(asking(f"c{number}", "n2") for number in range(6))]
    assert high(there, nodes=nodes, thresholds={"example.com/foo": 40}) == ["a", "b"]


def test_pods_must_fit_elsewhere() -> None:
    fussy = pods(1, "n1", cpu="400m", nodeSelector={"zone": "east"})
    assert high([*fussy, *FULL], evictor={"nodeFit": True}) == []
