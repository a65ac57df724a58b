"""Which pod is evicted first, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.eviction import ranking
from pybernetes.node.kubelet.eviction.thresholds import Amount, Observation, Threshold
from tests.node.kubelet.eviction.pods import make_pod

GIB = 1 << 30


def _figures(memory: int = 0, disk: int = 0, processes: int = 0) -> dict[str, Any]:
    return {
        "memory": {"workingSetBytes": memory},
        "containers": [
            {
                "name": "c",
                "memory": {"workingSetBytes": memory},
                "rootfs": {"usedBytes": disk, "inodesUsed": disk},
                "logs": {},
            }
        ],
        "process_stats": {"process_count": processes},
    }


@pytest.mark.parametrize(
    ("signal", "pods", "order"),
    [
        # more than asked for goes before less, then low priority, then the most beyond
        (
            "memory.available",
            {
                "within": (make_pod("within", 0, "2Gi"), _figures(GIB)),
                "over": (make_pod("over", 0), _figures(GIB)),
                "more": (make_pod("more", 0), _figures(2 * GIB)),
                "high": (make_pod("high", 10), _figures(3 * GIB)),
            },
            ["more", "over", "high", "within"],
        ),
        ("memory.available", {"a": (make_pod("a"), _figures(GIB)), "b": (make_pod("b"), None)}, ["b", "a"]),
        (
            "nodefs.available",
            {"a": (make_pod("a", 0, "1Gi"), _figures(disk=GIB // 2)), "b": (make_pod("b", 5), _figures(disk=1000))},
            ["b", "a"],
        ),
        (
            "pid.available",
            {"a": (make_pod("a", 5), _figures(processes=99)), "b": (make_pod("b"), _figures(processes=1)), "c": (make_pod("c"), _figures(processes=9))},
            ["c", "b", "a"],
        ),
    ],
)  # fmt: skip
def test_who_goes_first(signal: str, pods: dict[str, Any], order: list[str]) -> None:
    pod_stats = {name: stats for name, (_, stats) in pods.items() if stats is not None}
    ranked = ranking.rank([pod for pod, _ in pods.values()], pod_stats, signal)
    assert [pod["metadata"]["name"] for pod in ranked] == order


def test_what_an_evicted_pod_is_told() -> None:
    due = [Threshold("memory.available", Amount("100Mi"))]
    seen = {"memory.available": Observation(60 << 20, 8 * GIB)}
    text, notes = ranking.message(make_pod("p", 0, "1Mi"), _figures(5 << 20), due, seen, "memory")
    assert text == (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 60Mi. "
        "Container c was using 5Mi, request is 1Mi, has larger consumption of memory. "
    )
    assert notes == {
        "offending_containers": "c",
        "offending_containers_usage": "5Mi",
        "starved_resource": "memory",
    }


@pytest.mark.parametrize(
    ("pod", "conditions", "refused"),
    [
        (make_pod("a"), set(), False),
        (make_pod("a"), {"MemoryPressure"}, True),
        (make_pod("a", request="1Gi"), {"MemoryPressure"}, False),
        (make_pod("a", request="1Gi"), {"DiskPressure"}, True),
        (make_pod("a", priority=2_000_001_000), {"DiskPressure"}, False),
        (make_pod("a", tolerations=[{"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}]), {"MemoryPressure"}, False),
        (make_pod("a", tolerations=[{"operator": "Exists"}]), {"DiskPressure", "MemoryPressure"}, True),
    ],
)  # fmt: skip
def test_admission_under_pressure(pod: dict[str, Any], conditions: set[str], refused: bool) -> None:
    refusal = ranking.refusal(pod, frozenset(conditions))
    assert (refusal is not None) is refused
    if refusal is not None:
        assert refusal == ("Evicted", f"The node had condition: [{' '.join(sorted(conditions))}]. ")
