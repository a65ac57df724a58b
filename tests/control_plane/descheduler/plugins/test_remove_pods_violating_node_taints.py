"""RemovePodsViolatingNodeTaints: pods that are no longer welcome."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.descheduler.worlds import gone, node, pod

NAME = "RemovePodsViolatingNodeTaints"
TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}
SOFT = {"key": "s", "value": "v", "effect": "PreferNoSchedule"}
THERE = [
    pod("plain"),
    pod("tolerant", tolerations=[{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]),
    pod("open", tolerations=[{"operator": "Exists"}]),
    pod("elsewhere", "n2"),
]


@pytest.mark.parametrize(
    ("taints", "arguments", "expected"),
    [
        ([TAINT], {}, ["plain"]),
        ([SOFT], {}, []),
        ([SOFT], {"includePreferNoSchedule": True}, ["plain", "tolerant"]),
        ([TAINT], {"excludedTaints": ["k"]}, []),
        ([TAINT], {"excludedTaints": ["k=v"]}, []),
        ([TAINT], {"excludedTaints": ["k=w"]}, ["plain"]),
        ([TAINT], {"includedTaints": ["k=v"]}, ["plain"]),
        ([TAINT], {"includedTaints": ["other"]}, []),
        ([TAINT], {"labelSelector": {"matchLabels": {"a": "b"}}}, []),
        ([{**TAINT, "effect": "NoExecute"}], {}, []),
    ],
)
def test_taints(taints: Any, arguments: Any, expected: list[str]) -> None:
    assert gone([node("n1", taints=taints), node("n2")], THERE, {NAME: arguments}) == expected


def test_limits_and_fit() -> None:
    nodes = [node("n1", taints=[TAINT]), node("n2")]
    many = [pod(f"p{number}") for number in range(4)]
    assert len(gone(nodes, many, {NAME: {}}, maxNoOfPodsToEvictPerNode=1)) == 1
    assert len(gone(nodes, many, {NAME: {}}, maxNoOfPodsToEvictTotal=2)) == 2
    assert gone([nodes[0], node("n2", unschedulable=True)], many, {NAME: {}}, {"nodeFit": True}) == []
    assert gone([nodes[0], node("n2", amounts={"pods": "0"})], many, {NAME: {}}, {"nodeFit": True}) == []
    # A node that is not ready is none of the descheduler's business, and neither is one that is not selected.
    assert gone([node("n1", taints=[TAINT], ready=False), node("n2"), node("n3")], many, {NAME: {}}) == []
    assert (
        gone([*nodes, node("n3", {"a": "b"}), node("n4", {"a": "b"})], many, {NAME: {}}, nodeSelector="a=b")
        == []
    )
    assert gone([nodes[0]], many, {NAME: {}}) == []  # with one node there is nowhere to go
