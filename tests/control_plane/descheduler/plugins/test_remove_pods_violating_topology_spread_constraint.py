"""RemovePodsViolatingTopologySpreadConstraint: how many pods move; cases of upstream's tests."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.scheduling.snapshot import Snapshot
from tests.control_plane.descheduler.worlds import gone, node, pods

NAME = "RemovePodsViolatingTopologySpreadConstraint"
APP = {"foo": "bar"}


def constraint(skew: int = 1, key: str = "zone", hard: bool = True, **more: Any) -> Object:
    when = "DoNotSchedule" if hard else "ScheduleAnyway"
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": APP},
        **more,
    }


def zone(number: int, **more: Any) -> Object:
    return node(f"n{number}", {"zone": f"zone-{number}"}, amounts={"cpu": "50", "pods": "200"}, **more)


def domains(
    sizes: list[int], limit: Object | None = None, labels: dict[str, str] = APP, **more: Any
) -> list[Object]:
    spread = [limit or constraint()]
    return [
        pod
        for number, size in enumerate(sizes)
        for pod in pods(size, f"n{number}", labels=labels, topologySpreadConstraints=spread, **more)
    ]


@pytest.mark.parametrize(
    ("sizes", "skew", "count"),
    [
        ([2, 1], 1, 0),
        ([3, 1], 1, 1),
        ([5, 2], 1, 1),
        ([4, 0], 1, 2),
        ([0, 1, 100], 1, 66),
        ([0, 1, 3, 5], 1, 3),
        ([2, 6], 2, 1),
        ([8, 7, 0], 1, 5),
        ([5, 5, 5], 1, 0),
        ([2, 5, 3, 8, 5, 7], 1, 5),
    ],
)
def test_sizes(sizes: list[int], skew: int, count: int) -> None:
    nodes = [zone(number) for number in range(len(sizes))]
    assert len(gone(nodes, domains(sizes, constraint(skew)), {NAME: {}})) == count


def moved(
    sizes: list[int], limit: Object | None = None, arguments: Any = None, nodes: Any = None, **more: Any
) -> int:
    nodes = nodes or [zone(number) for number in range(len(sizes))]
    return len(gone(nodes, domains(sizes, limit, **more), {NAME: arguments or {}}))


def test_soft_constraints_count_when_asked_for() -> None:
    soft = constraint(hard=False)
    assert moved([3, 1], soft) == 0
    assert moved([3, 1], soft, {"constraints": ["ScheduleAnyway"]}) == 1
    assert moved([3, 1], None, {"constraints": ["ScheduleAnyway"]}) == 0
    assert moved([3, 1], None, {"constraints": ["DoNotSchedule", "ScheduleAnyway"]}) == 1


def test_selection() -> None:
    assert moved([2, 0], arguments={"labelSelector": {"matchLabels": APP}}) == 1
    assert moved([2, 0], arguments={"labelSelector": {"matchLabels": {"foo": "baz"}}}) == 0
    assert moved([3, 1], arguments={"namespaces": {"exclude": ["default"]}}) == 0


def test_taints() -> None:
    taint = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    nodes = [zone(0), zone(1, taints=taint)]
    assert moved([2, 0], nodes=nodes) == 0
    assert moved([2, 0], nodes=nodes, tolerations=[{"key": "k", "value": "v", "effect": "NoSchedule"}]) == 1
    assert moved([2, 0], nodes=[zone(0), zone(1, taints=[{"key": "k", "effect": "PreferNoSchedule"}])]) == 1
    assert moved([2, 0], constraint(nodeTaintsPolicy="Honor"), nodes=nodes) == 0


def test_room() -> None:
    small = node("n0", {"zone": "zone-0"}, amounts={"cpu": "250m"})
    nodes = [small, zone(1), zone(2)]
    assert moved([2, 3, 4], nodes=nodes) == 0
    assert moved([2, 3, 4], nodes=nodes, arguments={"topologyBalanceNodeFit": False}) == 1


def test_pods_that_cannot_be_elsewhere_stay() -> None:
    nodes = [zone(0), zone(1)]
    there = domains([4, 0], constraint(nodeAffinityPolicy="Ignore"))
    for pod in there[1:]:
        pod["spec"]["nodeSelector"] = {"zone": "zone-0"}
    assert gone(nodes, there, {NAME: {}}) == ["n0-0"]


def test_labels_that_must_be_the_same() -> None:
    limit = constraint(matchLabelKeys=["pod-template-hash"])
    assert moved([2, 0], limit, labels={**APP, "pod-template-hash": "a"}) == 1
    nodes = [zone(0), zone(1)]
    there = domains([2, 0], limit)
    for number, pod in enumerate(there):
        pod["metadata"]["labels"] = {**APP, "pod-template-hash": str(number)}
    assert gone(nodes, there, {NAME: {}}) == []


def test_pods_that_are_going_do_not_count() -> None:
    there = domains([4, 2])
    for pod in there[:2]:
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert gone([zone(0), zone(1)], there, {NAME: {}}) == []


def test_limits() -> None:
    nodes = [zone(0), zone(1)]
    assert len(gone(nodes, domains([9, 0]), {NAME: {}}, maxNoOfPodsToEvictPerNode=2)) == 2
    assert len(gone(nodes, domains([9, 0]), {NAME: {}}, maxNoOfPodsToEvictTotal=1)) == 1


def test_zones_of_several_nodes() -> None:
    nodes = [node(f"n{number}", {"zone": "ab"[number % 2]}) for number in range(6)]
    there = [
        pod
        for number in (0, 2, 4, 0)
        for pod in pods(1, f"n{number}", f"p{number}", labels=APP, topologySpreadConstraints=[constraint()])
    ]
    there[3]["metadata"]["name"] = there[3]["metadata"]["uid"] = "again"
    assert len(gone(nodes, there, {NAME: {}})) == 2


def test_constraints_over_labels_that_no_node_has_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    label = Snapshot.label

    def asking(self: Snapshot, key: str) -> Any:
        asked.add(key)
        return label(self, key)

    monkeypatch.setattr(Snapshot, "label", asking)
    many = [constraint(key=f"key-{number}") for number in range(500)]
    some = pods(4, "n0", labels=APP, topologySpreadConstraints=[*many, constraint()])
    assert len(gone([zone(0), zone(1)], some, {NAME: {}})) == 2
    assert "zone" in asked and not {rule["topologyKey"] for rule in many} & asked
