"""DefaultEvictor: what protects a pod, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.descheduler.worlds import gone, node, pod

NODES = [node("n1"), node("n2")]
OLD = {"PodLifeTime": {"maxPodLifeTimeSeconds": 60}}
DAEMON = {"kind": "DaemonSet", "name": "d", "uid": "d-uid"}
EVICT = {"descheduler.alpha.kubernetes.io/evict": "true"}
STAY = {"descheduler.alpha.kubernetes.io/prefer-no-eviction": "true"}
LOCAL = [{"name": "v", "emptyDir": {}}]
CLAIM = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
CLAIMS = {
    "persistentvolumeclaims": [
        {"metadata": {"name": "c", "namespace": "default"}, "spec": {"storageClassName": "fast"}}
    ]
}
BUDGET = {"poddisruptionbudgets": [{"metadata": {"name": "b", "namespace": "default"},
                                    "spec": {"selector": {"matchLabels": {"a": "b"}}}}]}  # fmt: skip
TEAM = {"namespaces": [{"metadata": {"name": "default", "labels": {"team": "t"}}}]}


def disabled(*names: str) -> dict[str, Any]:
    return {"podProtections": {"defaultDisabled": list(names)}}


def extra(*names: str, **config: Any) -> dict[str, Any]:
    return {"podProtections": {"extraEnabled": list(names), "config": config}}


def classes(*names: str) -> dict[str, Any]:
    return extra("PodsWithPVC", PodsWithPVC={"protectedStorageClasses": [{"name": name} for name in names]})


@pytest.mark.parametrize(
    ("there", "arguments", "objects", "goes"),
    [
        ({}, {}, {}, True),
        ({"annotations": {"kubernetes.io/config.mirror": "x"}}, {}, {}, False),
        ({"annotations": {"kubernetes.io/config.source": "file"}}, {}, {}, False),
        ({"annotations": {"kubernetes.io/config.source": "api"}}, {}, {}, True),
        ({"deleting": True}, {}, {}, False),
        ({"owners": ()}, {}, {}, False),
        ({"owners": (), "annotations": EVICT}, {}, {}, True),
        ({"deleting": True, "annotations": EVICT}, {}, {}, True),
        ({"priority": 2_000_000_000}, {}, {}, False),
        ({"priority": 1_999_999_999}, {}, {}, True),
        ({"priority": 2_000_000_000}, {"evictSystemCriticalPods": True}, {}, True),
        ({"priority": 2_000_000_000}, disabled("SystemCriticalPods"), {}, True),
        ({"priority": 500}, {"priorityThreshold": {"value": 500}}, {}, False),
        ({"priority": 499}, {"priorityThreshold": {"value": 500}}, {}, True),
        ({"priority": 900}, {"priorityThreshold": {"value": 500}, "evictSystemCriticalPods": True}, {}, True),
        ({"volumes": LOCAL}, {}, {}, False),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}, {}, {}, False),
        ({"volumes": LOCAL}, {"evictLocalStoragePods": True}, {}, True),
        ({"volumes": LOCAL}, disabled("PodsWithLocalStorage"), {}, True),
        ({"volumes": LOCAL, "annotations": EVICT}, {}, {}, True),
        ({"owners": [DAEMON]}, {}, {}, False),
        ({"owners": [DAEMON]}, {"evictDaemonSetPods": True}, {}, True),
        ({"owners": [DAEMON]}, disabled("DaemonSetPods"), {}, True),
        ({"volumes": CLAIM}, {}, {}, True),
        ({"volumes": CLAIM}, {"ignorePvcPods": True}, {}, False),
        ({"volumes": CLAIM}, extra("PodsWithPVC"), {}, False),
        ({"volumes": CLAIM}, classes("fast"), CLAIMS, False),
        ({"volumes": CLAIM}, classes("slow"), CLAIMS, True),
        ({"volumes": CLAIM}, classes("slow"), {}, False),
        ({}, extra("PodsWithoutPDB"), BUDGET, False),
        ({"labels": {"a": "b"}}, extra("PodsWithoutPDB"), BUDGET, True),
        ({"labels": {"a": "b"}, "namespace": "other"}, {"ignorePodsWithoutPDB": True}, BUDGET, False),
        ({"resourceClaims": [{"name": "gpu"}]}, {}, {}, True),
        ({"resourceClaims": [{"name": "gpu"}]}, extra("PodsWithResourceClaims"), {}, False),
        ({"volumes": LOCAL}, extra("PodsWithPVC"), {}, False),
        ({"labels": {"a": "b"}}, {"labelSelector": {"matchLabels": {"a": "b"}}}, {}, True),
        ({}, {"labelSelector": {"matchLabels": {"a": "b"}}}, {}, False),
        ({}, {"namespaceLabelSelector": {"matchLabels": {"team": "t"}}}, TEAM, True),
        ({"namespace": "other"}, {"namespaceLabelSelector": {"matchLabels": {"team": "t"}}}, TEAM, False),
        ({}, {"namespaceLabelSelector": {}}, {}, True),
        ({"age": 100}, {"minPodAge": "2m"}, {}, False),
        ({"age": 100}, {"minPodAge": "1m"}, {}, True),
        ({"age": 100, "status": {"startTime": None}}, {"minPodAge": "1m"}, {}, False),
        ({"annotations": STAY}, {}, {}, True),
        ({"annotations": STAY}, {"noEvictionPolicy": "Preferred"}, {}, True),
        ({"annotations": STAY}, {"noEvictionPolicy": "Mandatory"}, {}, False),
        ({"annotations": STAY | EVICT}, {"noEvictionPolicy": "Mandatory"}, {}, True),
        ({}, {"minReplicas": 2}, {}, False),
        ({}, {"minReplicas": 1}, {}, True),
        ({"owners": [DAEMON | {"kind": "X"}, DAEMON | {"kind": "Y"}]}, {"minReplicas": 5}, {}, True),
    ],
)
def test_protection(there: Any, arguments: Any, objects: Any, goes: bool) -> None:
    assert gone(NODES, [pod("p", **there)], OLD, arguments, objects) == (["p"] if goes else [])


def test_replicas_are_counted_wherever_they_are() -> None:
    there = [pod("here"), pod("pending", on="")]
    assert gone(NODES, there, OLD, {"minReplicas": 2}) == ["here"]


def test_nodes_to_fit_onto_can_be_chosen() -> None:
    nodes = [node("n1"), node("n2", {"a": "b"}), node("n3", {"c": "d"}, ready=False)]
    for selector, goes in (("a=b", ["p"]), ("c=d", []), ("", ["p"])):
        assert gone(nodes, [pod("p")], OLD, {"nodeFit": True, "nodeSelector": selector}) == goes


def test_a_pod_larger_than_every_other_node_stays() -> None:
    nodes = [node("n1", amounts={"cpu": "4"}), node("n2", amounts={"cpu": "1"})]
    assert gone(nodes, [pod("p", cpu="2")], OLD, {"nodeFit": True}) == []
