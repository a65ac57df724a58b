"""How many replicas a metric asks for; the cases are those of upstream's calculator."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.controllers.horizontalpodautoscaler import replica_calculator as calculator
from pybernetes.control_plane.controllers.horizontalpodautoscaler.pod_groups import (
    CannotCompute,
    PodMetric,
    group_pods,
    requests_of,
)
from pybernetes.control_plane.controllers.horizontalpodautoscaler.replica_calculator import (
    Proposal,
    Tolerances,
)
from pybernetes.lib import rfc3339

NOW = 1_700_000_000.0
READY, UNREADY, HOT, PENDING, FAILED, DELETED = "ready", "unready", "hot", "pending", "failed", "deleted"


def pod(name: str, state: str = READY, request: str = "1") -> dict[str, Any]:
    """Return a pod that started an hour ago; a hot one was never ready, one that is hot has just become so."""
    started = NOW - 60 if state in (HOT, UNREADY) else NOW - 3600
    changed = NOW - 30 if state == HOT else started
    condition = {
        "type": "Ready", "status": "False" if state in (UNREADY, PENDING) else "True",
        "lastTransitionTime": rfc3339.seconds(changed),
    }  # fmt: skip
    phase = {PENDING: "Pending", FAILED: "Failed"}.get(state, "Running")
    meta = {"name": name} | ({"deletionTimestamp": "x"} if state == DELETED else {})
    container = {"name": "main", "resources": {"requests": {"cpu": request, "memory": "1Gi"}}}
    return {
        "metadata": meta,
        "spec": {"containers": [container]},
        "status": {"phase": phase, "startTime": rfc3339.seconds(started), "conditions": [condition]},
    }


def utilization(
    current: int,
    target: int,
    levels: list[int | None],
    states: list[str] | None = None,
    resource: str = "cpu",
) -> Proposal:
    states = states or [READY] * len(levels)
    pods = [pod(f"pod-{number}", state) for number, state in enumerate(states)]
    metrics = {
        f"pod-{number}": PodMetric(level, NOW, 60.0)
        for number, level in enumerate(levels)
        if level is not None
    }
    groups = group_pods(pods, metrics, resource, now=NOW, cpu_initialization=120.0, initial_readiness=10.0)
    requests = requests_of(pods, "cpu")
    return calculator.by_utilization(current, metrics, requests, groups, target, Tolerances())


@pytest.mark.parametrize(
    ("current", "target", "levels", "states", "replicas", "share", "usage"),
    [
        # Upstream's TestReplicaCalcDisjointResourcesMetrics and others, with requests of one core.
        (3, 30, [300, 500, 700], None, 5, 50, 500),  # scale up
        (3, 30, [300, 500, 700], [HOT, READY, READY], 4, 60, 600),  # a hot pod counts as zero
        (
            3,
            30,
            [400, 500, 700],
            [READY, UNREADY, UNREADY],
            3,
            40,
            400,
        ),  # unready ones make it less: no change
        (3, 30, [100, 500, 700, 900], [HOT, READY, READY, FAILED], 4, 60, 600),  # failed ones are not there
        (3, 30, [100, 300, 500, 700], [HOT, READY, READY, DELETED], 3, 40, 400),  # it would turn round
        (5, 50, [100, 300, 500, 250, 250], None, 3, 28, 280),  # scale down
        (5, 50, [100, 300, 500, 250, 250], [READY, READY, READY, UNREADY, UNREADY], 2, 30, 300),
        (3, 100, [1010, 1030, 1020], None, 3, 102, 1020),  # tolerated
        (4, 100, [400, None, None, None], None, 4, 40, 400),  # missing pods count as full: 340% of 400%
        (4, 50, [None, 900], [READY, READY], 4, 90, 900),  # one missing: 45% of two pods
        (2, 50, [None, 1900], [READY, READY], 4, 190, 1900),
        (2, 0x7FFFFFFF, [1], None, 0, 0, 1),
        (2, 50, [2**60, 2**60], None, 2**31 - 1, 2**60 // 10, 2**60),
        (2, 50, [-3, -2], None, 0, 0, -2),  # what cannot be: rounded towards zero
    ],
)
def test_by_utilization(
    current: int, target: int, levels: list[int | None], states: list[str] | None, replicas: int, share: int, usage: int
) -> None:  # fmt: skip
    assert utilization(current, target, levels, states) == Proposal(replicas, usage, share)


def test_memory_of_a_starting_pod_counts() -> None:
    assert utilization(3, 30, [300, 500, 700], [HOT, READY, READY], "memory").replicas == 5


@pytest.mark.parametrize(
    ("levels", "states", "target", "current", "replicas", "usage"),
    [
        ([20_000, 10_000, 30_000], None, 15_000, 3, 4, 20_000),
        (
            [50_000, 10_000, 30_000],
            [HOT, READY, UNREADY],
            15_000,
            3,
            6,
            30_000,
        ),  # custom metrics: readiness is no matter
        ([50_000, 15_000, 30_000], [HOT, READY, PENDING], 15_000, 3, 5, 32_500),
        ([12_000, 12_000, 12_000, 12_000, 12_000], None, 20_000, 5, 3, 12_000),
        ([20_000, None, 10_000], None, 15_000, 3, 3, 15_000),
        ([-3, -2], None, 1, 2, -4, -2),
    ],
)
def test_by_average(
    levels: list[int | None], states: list[str] | None, target: int, current: int, replicas: int, usage: int
) -> None:
    pods = [pod(f"pod-{number}", state) for number, state in enumerate(states or [READY] * len(levels))]
    metrics = {
        f"pod-{number}": PodMetric(level, NOW) for number, level in enumerate(levels) if level is not None
    }
    groups = group_pods(pods, metrics, "", now=NOW, cpu_initialization=120.0, initial_readiness=10.0)
    assert calculator.by_average(current, metrics, groups, target, Tolerances()) == Proposal(replicas, usage)


@pytest.mark.parametrize(
    ("current", "usage", "target", "ready", "replicas"),
    [
        (3, 20_000, 15_000, 3, 4),
        (3, 15_500, 15_000, 3, 3),
        (5, 12_000, 20_000, 5, 3),
        (0, 100_000, 20_000, 0, 5),  # from zero
        (4, 18_800, 10_000, 3, 6),  # only ready pods do the work
        (2, 2**62, 1, 2, 2**31 - 1),
    ],
)
def test_by_value(current: int, usage: int, target: int, ready: int, replicas: int) -> None:
    pods = [pod(f"pod-{number}", READY if number < ready else UNREADY) for number in range(max(current, 1))]
    assert calculator.by_value(current, usage, target, pods, Tolerances()) == Proposal(replicas, usage)


@pytest.mark.parametrize(
    ("replicas", "usage", "target", "proposal"),
    [
        (3, 20_000, 5_000, Proposal(4, 6_667)),
        (3, 15_500, 5_000, Proposal(3, 5_167)),
        (5, 10_000, 5_000, Proposal(2, 2_000)),
        (0, 10_000, 5_000, Proposal(2, 10_000)),
        (3, 2**63 - 1, 5_000, Proposal(2**31 - 1, 2**63 - 1)),
    ],
)
def test_by_share(replicas: int, usage: int, target: int, proposal: Proposal) -> None:
    assert calculator.by_share(replicas, usage, target, Tolerances()) == proposal


@pytest.mark.parametrize(
    ("figures", "negative_is_too_large", "total"),
    [
        ([1, 2, 3], True, 6),
        ([2**62, 2**62, 5], False, 2**63 - 1),
        ([-5, 9], False, 4),
        ([-5, 9], True, 2**63 - 1),
        ([9, -5], True, 4),
    ],
)
def test_sums(figures: list[int], negative_is_too_large: bool, total: int) -> None:
    assert calculator.sum_of(figures, negative_is_too_large=negative_is_too_large) == total


@pytest.mark.parametrize(
    ("ratio", "tolerances", "holds"),
    [
        (1.1, Tolerances(), True), (1.11, Tolerances(), False), (0.9, Tolerances(), True), (0.89, Tolerances(), False),
        (1.3, Tolerances(0.5, 0.0), True), (0.99, Tolerances(0.5, 0.0), False),
    ],
)  # fmt: skip
def test_tolerances(ratio: float, tolerances: Tolerances, holds: bool) -> None:
    assert tolerances.holds(ratio) is holds


def test_what_cannot_be_computed() -> None:
    with pytest.raises(CannotCompute, match="did not receive metrics for targeted pods"):
        utilization(1, 50, [None])
    with pytest.raises(CannotCompute, match="missing request for cpu in container main of Pod pod-0"):
        requests_of([{"metadata": {"name": "pod-0"}, "spec": {"containers": [{"name": "main"}]}}], "cpu")
    with pytest.raises(CannotCompute, match="container other not found in Pod a"):
        requests_of([pod("a")], "cpu", "other")
    groups = group_pods([pod("a")], {}, "cpu", now=NOW, cpu_initialization=120.0, initial_readiness=10.0)
    with pytest.raises(CannotCompute, match="did not receive metrics for targeted pods"):
        calculator.check_metrics({}, groups)
    with pytest.raises(CannotCompute, match="no pods returned by selector"):
        calculator.check_pods([])
    with pytest.raises(CannotCompute, match="unable to calculate ready pods"):
        calculator.by_value(1, 5, 1, [], Tolerances())


def test_requests_of_sidecars_and_of_pods() -> None:
    made = pod("a")
    made["spec"]["initContainers"] = [
        {"name": "once", "resources": {"requests": {"cpu": "4"}}},
        {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
    ]
    assert requests_of([made], "cpu") == {"a": 1500} and requests_of([made], "cpu", "side") == {"a": 500}
    made["spec"]["resources"] = {"requests": {"cpu": "3"}}
    assert requests_of([made], "cpu") == {"a": 3000} and requests_of([made], "cpu", "main") == {"a": 1000}


def test_requests_of_pods_that_name_only_some_resources() -> None:
    made = pod("a")
    made["spec"]["resources"] = {"requests": {"memory": "3Gi"}}
    made["spec"]["overhead"] = {"cpu": "250m"}
    # What the pod does not name is the sum of its containers, and its overhead is part of both.
    assert requests_of([made], "cpu") == {"a": 1250}
    assert requests_of([made], "memory") == {"a": 3 * 2**30 * 1000}
    with pytest.raises(CannotCompute, match="missing pod-level request for hugepages-2Mi in Pod a"):
        requests_of([made], "hugepages-2Mi")
    made["spec"]["resources"] = {"requests": {"example.com/gpu": "1"}}  # which no pod as a whole can ask for
    assert requests_of([made], "cpu") == {"a": 1000}
