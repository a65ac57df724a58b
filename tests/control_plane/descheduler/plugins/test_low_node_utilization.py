"""LowNodeUtilization: who is too full, and how many pods leave; cases of upstream's tests."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.node_usage import Source, Usage
from tests.control_plane.descheduler.worlds import cluster, evictions, gone, node, pod, pods, policy

NODES = [
    node("n1", amounts={"cpu": "4", "pods": "9"}),
    node("n2", amounts={"cpu": "4"}),
    node("n3", amounts={"cpu": "4"}, unschedulable=True),
]
DAEMON = {"kind": "DaemonSet", "name": "d", "uid": "d-uid"}
MIRROR = {"kubernetes.io/config.mirror": "x"}
STAYING = [
    pod("p6", cpu="400m", owners=[DAEMON]),
    pod("p7", cpu="400m", annotations=MIRROR, volumes=[{"name": "v", "emptyDir": {}}]),
    pod("p8", cpu="400m", namespace="kube-system", priority=2_000_000_000),
    pod("p9", "n2", cpu="400m"),
]
LEAVING = pods(5, "n1", "p", cpu="400m")
LEVELS = {"thresholds": {"cpu": 30, "pods": 30}, "targetThresholds": {"cpu": 50, "pods": 50}}


def low(there: list[Object], nodes: list[Object] = NODES, evictor: Any = None, **arguments: Any) -> list[str]:
    return gone(nodes, there, {"LowNodeUtilization": {**LEVELS, **arguments}}, evictor)


def test_pods_leave_until_the_node_is_not_too_full() -> None:
    assert len(low([*LEAVING, *STAYING])) == 4


def test_nothing_to_evict() -> None:
    assert low(STAYING + [pod(f"d{number}", cpu="400m", owners=[DAEMON]) for number in range(4)]) == []


def test_excluded_namespaces() -> None:
    assert low([*LEAVING, *STAYING], evictableNamespaces={"exclude": ["default"]}) == []


def test_limit_per_node() -> None:
    assert len(low([*LEAVING, *STAYING], evictionLimits={"node": 3})) == 3


def test_number_of_nodes() -> None:
    assert low([*LEAVING, *STAYING], numberOfNodes=1) == []


def test_low_priority_first() -> None:
    important = [pod(f"high-{number}", cpu="400m", priority=10_000) for number in range(4)]
    assert low([*important, pod("low", cpu="400m", priority=0), *STAYING], evictionLimits={"node": 1}) == [
        "low"
    ]


def test_best_effort_first() -> None:
    solid = [pod(f"burstable-{number}", cpu="500m") for number in range(4)]
    assert low([*solid, pod("best-effort", cpu=""), *STAYING], evictionLimits={"node": 1}) == ["best-effort"]


def test_one_that_would_rather_stay_goes_last() -> None:
    there = pods(5, "n1", "p", cpu="400m")
    there[0]["metadata"]["annotations"] = {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""}
    assert low([*there, *STAYING], evictionLimits={"node": 4}) == ["p-1", "p-2", "p-3", "p-4"]


def test_everybody_is_below() -> None:
    assert low(pods(1, "n1"), nodes=NODES[:2]) == []


def test_targets_must_be_welcoming() -> None:
    nodes = [NODES[0], node("n2", amounts={"cpu": "4"}, taints=[{"key": "k", "effect": "PreferNoSchedule"}])]
    assert low([*LEAVING, *STAYING], nodes=nodes) == []
    friends = pods(5, "n1", "p", cpu="400m", tolerations=[{"operator": "Exists"}])
    assert len(low([*friends, *STAYING], nodes=nodes)) == 4


def test_deviation_from_the_average() -> None:
    nodes = [node(name, amounts={"cpu": "4"}) for name in ("n1", "n2", "n3")]
    there = [*pods(8, "n1", cpu="400m"), *pods(1, "n2", cpu="400m"), *pods(1, "n3", cpu="400m")]
    spans = {"thresholds": {"cpu": 5}, "targetThresholds": {"cpu": 5}, "useDeviationThresholds": True}
    # On average 33 %: the first node has 80 %, and leaves off at or below 38 %.
    assert len(low(there, nodes=nodes, **spans)) == 5


def test_pods_must_fit_elsewhere() -> None:
    fussy = pods(5, "n1", "p", cpu="400m", nodeSelector={"zone": "east"})
    assert low([*fussy, *STAYING], evictor={"nodeFit": True}) == []
    nodes = [NODES[0], node("n2", {"zone": "east"}, amounts={"cpu": "4"})]
    assert len(low([*fussy, *STAYING], nodes=nodes, evictor={"nodeFit": True})) == 4


def measured(source: dict[str, Any], usage: Usage | str, **levels: Any) -> list[str]:
    arguments = {**LEVELS, **levels, "metricsUtilization": source}
    rules = policy({"LowNodeUtilization": arguments})
    query = (source.get("prometheus") or {}).get("query", "")
    evicted = evictions(cluster(NODES, [*LEAVING, *STAYING]), rules, {Source(source["source"], query): usage})
    return [eviction.record.pod.name for eviction in evicted]


def test_real_use() -> None:
    nodes = {name: {"cpu": cpu, "memory": 0} for name, cpu in (("n1", 3201), ("n2", 401), ("n3", 11))}
    figures = {f"default/p-{number}": {"cpu": 401, "memory": 0} for number in range(5)}
    source = {"source": "KubernetesMetrics"}
    assert len(measured(source, Usage(nodes, figures))) == 4
    del figures["default/p-0"]
    assert "p-0" not in measured(source, Usage(nodes, figures))
    assert measured(source, "nobody answers") == []
    assert measured(source, Usage({}, figures)) == []


def test_prometheus() -> None:
    levels = {"thresholds": {"MetricResource": 20}, "targetThresholds": {"MetricResource": 70}}
    source = {"source": "Prometheus", "prometheus": {"query": "q"}}
    usage = Usage(
        {"n1": {"MetricResource": 82}, "n2": {"MetricResource": 10}, "n3": {"MetricResource": 5}}, None
    )
    assert len(measured(source, usage, **levels)) == 1
    assert len(measured(source, usage, evictionLimits={"node": 2}, **levels)) == 2


@pytest.mark.parametrize("missing", ["n1", "n2"])
def test_a_node_without_figures(missing: str) -> None:
    nodes = {name: {"MetricResource": 50} for name in ("n1", "n2", "n3") if name != missing}
    levels = {"thresholds": {"MetricResource": 20}, "targetThresholds": {"MetricResource": 70}}
    assert (
        measured({"source": "Prometheus", "prometheus": {"query": "q"}}, Usage(nodes, None), **levels) == []
    )
