"""RemoveDuplicates: how many pods of an owner a node keeps; cases of upstream's tests."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from tests.control_plane.descheduler.worlds import REPLICA_SET, gone, node, pod, pods

OTHER = {"kind": "ReplicaSet", "name": "rs-2", "uid": "rs-2-uid", "apiVersion": "apps/v1"}
NODES = [node(name) for name in ("n1", "n2", "n3")]
UNEVEN = [*pods(5, "n1"), *pods(3, "n2"), *pods(1, "n3")]
WORKERS = [
    *(node(f"n{number}", {"worker": "k"}) for number in (1, 2, 3)),
    *(node(f"m{number}", taints=[{"key": "master", "effect": "NoSchedule"}]) for number in (1, 2, 3)),
]


def spread(**more: Any) -> list[Object]:
    return [*pods(5, "n1", **more), *pods(3, "n2", **more), *pods(1, "n3", **more)]


@pytest.mark.parametrize(
    ("nodes", "there", "arguments", "evictor", "count"),
    [
        pytest.param(NODES, UNEVEN, {}, {}, 2, id="evenly"),
        pytest.param(NODES[:2], UNEVEN, {}, {}, 1, id="a node is left out"),
        pytest.param(
            NODES, [*UNEVEN, *pods(1, "n1", "x", owners=[OTHER]), *pods(3, "n2", "x2", owners=[OTHER]),
                    *pods(5, "n3", "x3", owners=[OTHER])], {}, {}, 4, id="two owners"),
        pytest.param(NODES, spread(owners=[REPLICA_SET, OTHER]), {}, {}, 2, id="two owners of each pod, each goes once"),
        pytest.param(NODES, pods(2, "n1"), {}, {}, 1, id="fewer pods than nodes"),
        pytest.param(NODES, pods(1, "n1"), {}, {}, 0, id="a single pod"),
        pytest.param(
            NODES, [*pods(2, "n1"), pod("other", "n1", image="j")], {}, {}, 1, id="another image is no duplicate"),
        pytest.param(WORKERS, spread(), {}, {}, 2, id="taints"),
        pytest.param(WORKERS, spread(nodeSelector={"worker": "k"}), {}, {}, 2, id="node selector"),
        pytest.param(WORKERS, spread(nodeSelector={"worker": "none"}), {}, {}, 0, id="no node at all"),
        pytest.param(
            WORKERS, spread(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "worker", "operator": "Exists"}]}]}}}),
            {}, {}, 2, id="node affinity"),
        pytest.param(NODES[:2], pods(3, "n1"), {"excludeOwnerKinds": ["ReplicaSet"]}, {}, 0, id="kind is excluded"),
        pytest.param(NODES[:2], pods(3, "n1"), {"namespaces": {"exclude": ["default"]}}, {}, 0, id="namespace"),
        pytest.param(NODES[:2], pods(3, "n1"), {"namespaces": {"include": ["default"]}}, {}, 1, id="that namespace"),
        pytest.param(NODES[:2], pods(3, "n1", owners=()), {}, {}, 0, id="no owner"),
        pytest.param(
            [NODES[0], node("n2", taints=[{"key": "k", "effect": "NoSchedule"}])], pods(3, "n1"), {},
            {"nodeFit": True}, 0, id="fits nowhere else: taint"),
        pytest.param(
            [NODES[0], node("n2", unschedulable=True)], pods(3, "n1"), {}, {"nodeFit": True}, 0, id="cordoned"),
        pytest.param(
            [NODES[0], node("n2", amounts={"cpu": "50m"})], pods(3, "n1"), {}, {"nodeFit": True}, 0, id="too small"),
        pytest.param(NODES[:2], pods(3, "n1"), {}, {"nodeFit": True}, 1, id="fits elsewhere"),
    ],
)  # fmt: skip
def test_duplicates(nodes: Any, there: Any, arguments: Any, evictor: Any, count: int) -> None:
    assert len(gone(nodes, there, {"RemoveDuplicates": arguments}, evictor)) == count


def test_limits() -> None:
    assert len(gone(NODES, UNEVEN, {"RemoveDuplicates": {}}, maxNoOfPodsToEvictTotal=1)) == 1
    assert len(gone(NODES, pods(9, "n1"), {"RemoveDuplicates": {}}, maxNoOfPodsToEvictPerNode=2)) == 2
    assert len(gone(NODES, pods(9, "n1"), {"RemoveDuplicates": {}}, maxNoOfPodsToEvictPerNamespace=3)) == 3
