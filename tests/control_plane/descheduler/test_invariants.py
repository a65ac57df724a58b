"""Every plugin together on generated clusters: what must never happen, told from the API's objects alone."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.descheduling import Eviction
from pybernetes.control_plane.descheduler.evictor import refusal
from pybernetes.control_plane.descheduler.policy import Policy
from pybernetes.control_plane.descheduler.registry import known_plugins
from pybernetes.scheduling.disruption_budgets import EvictionBudgets
from tests.control_plane.descheduler.worlds import cluster, evictions, node, pod, policy

EVICT = "descheduler.alpha.kubernetes.io/evict"
MIRROR = "kubernetes.io/config.mirror"
HOST = "kubernetes.io/hostname"
KINDS = ("ReplicaSet", "ReplicaSet", "StatefulSet", "Job", "DaemonSet")
SEEDS = range(40)
AFFINITIES = [f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred")]
PLUGINS: dict[str, Object] = {
    "PodLifeTime": {"maxPodLifeTimeSeconds": 3600, "labelSelector": {"matchLabels": {"old": "yes"}}},
    "RemoveFailedPods": {},
    "RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 1},
    "RemovePodsViolatingInterPodAntiAffinity": {},
    "RemovePodsViolatingNodeAffinity": {"nodeAffinityType": AFFINITIES},
    "RemovePodsViolatingNodeTaints": {},
    "RemovePodsViolatingTopologySpreadConstraint": {},
    "LowNodeUtilization": {"thresholds": {"pods": 20}, "targetThresholds": {"pods": 30}},
    "HighNodeUtilization": {"thresholds": {"pods": 15}},
    "RemoveDuplicates": {},
}


def owner(kind: str, number: int) -> Object:
    name = f"{kind}-{number}".lower()
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}


def some_pod(dice: random.Random, number: int, nodes: list[str]) -> Object:
    """Return a pod that may be misplaced, guarded, or both."""
    app = dice.choice("abc")
    spec: dict[str, Any] = {}
    if dice.random() < 0.2:
        spec["volumes"] = [{"name": "v", dice.choice(("emptyDir", "hostPath")): {}}]
    if dice.random() < 0.1:
        spec["priority"] = 2_000_000_000
    if dice.random() < 0.2:
        term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOST}
        anti = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec["affinity"] = {"podAntiAffinity": anti}
    if dice.random() < 0.2:
        terms = [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": required}
    if dice.random() < 0.3:
        selector = {"matchLabels": {"app": app}}
        spec["topologySpreadConstraints"] = [
            {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        ]  # fmt: skip
    annotations = {key: "" for key, chance in ((EVICT, 0.05), (MIRROR, 0.05)) if dice.random() < chance}
    phase = dice.choice(("Running",) * 6 + ("Failed", "Pending"))
    status: Object = {
        "phase": phase,
        "conditions": [{"type": "Ready", "status": str(phase == "Running" and dice.random() < 0.9)}],
        "containerStatuses": [{"name": "main", "restartCount": dice.choice((0, 0, 0, 5))}],
    }
    return pod(
        f"p{number}", dice.choice(nodes), dice.choice(("100m", "500m")), status=status, annotations=annotations,
        labels={"app": app, **({"old": "yes"} if dice.random() < 0.3 else {})},
        owners=[owner(dice.choice(KINDS), dice.randrange(3))] if dice.random() < 0.9 else (),
        deleting=dice.random() < 0.05, **spec,
    )  # fmt: skip


def some_cluster(seed: int) -> tuple[list[Object], list[Object], list[Object]]:
    """Return nodes, pods and disruption budgets."""
    dice = random.Random(seed)
    names = [f"n{number}" for number in range(dice.randint(2, 6))]
    nodes = [
        node(
            name,
            {"disk": "ssd"} if dice.random() < 0.6 else {},
            ready=dice.random() < 0.9,
            taints=[{"key": "k", "effect": "NoSchedule"}] if dice.random() < 0.2 else [],
            amounts={"cpu": "8", "pods": "30"},
        )
        for name in names
    ]
    pods = [some_pod(dice, number, names) for number in range(dice.randint(20, 60))]
    budgets = [
        {
            "metadata": {"namespace": "default", "name": app},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": dice.randint(0, 3), "currentHealthy": 3, "desiredHealthy": 9},
        }
        for app in "ab"
    ]
    return nodes, pods, budgets


def is_protected(obj: Object) -> bool:
    """Return whether DefaultEvictor must not let a pod go, with its default arguments."""
    meta, spec = obj["metadata"], obj["spec"]
    if EVICT in meta["annotations"]:
        return False
    return (
        MIRROR in meta["annotations"]
        or "deletionTimestamp" in meta
        or not meta["ownerReferences"]
        or any(reference["kind"] == "DaemonSet" for reference in meta["ownerReferences"])
        or any("emptyDir" in volume or "hostPath" in volume for volume in spec.get("volumes", ()))
        or spec.get("priority", 0) >= 2_000_000_000
    )


def run(seed: int, rules: Policy) -> list[Eviction]:
    """Return what a pass with all plugins evicts, the budgets' refusals included."""
    nodes, pods, budgets = some_cluster(seed)
    asked = EvictionBudgets(budgets)
    return evictions(
        cluster(nodes, pods), rules, refuse=lambda eviction: bool(refusal(asked, eviction.record))
    )


def test_all_plugins_take_part() -> None:
    assert {*PLUGINS, "DefaultEvictor"} == set(known_plugins())
    strategies = {eviction.strategy for seed in SEEDS for eviction in run(seed, policy(PLUGINS))}
    assert strategies == set(PLUGINS)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_must_never_happen(seed: int) -> None:
    nodes, pods, budgets = some_cluster(seed)
    by_name = {obj["metadata"]["name"]: obj for obj in pods}
    rules = policy(PLUGINS, maxNoOfPodsToEvictPerNode=4) if seed % 2 else policy(PLUGINS)
    evicted = run(seed, rules)
    names = [eviction.record.pod.name for eviction in evicted]
    assert len(names) == len(set(names))  # nobody goes twice
    assert not [name for name in names if is_protected(by_name[name])]
    ready = {obj["metadata"]["name"] for obj in nodes if obj["status"]["conditions"][0]["status"] == "True"}
    assert {by_name[name]["spec"]["nodeName"] for name in names} <= ready
    for budget in budgets:
        healthy = [
            name
            for name in names
            if by_name[name]["metadata"]["labels"]["app"] == budget["metadata"]["name"]
            and by_name[name]["status"]["phase"] == "Running"
            and "deletionTimestamp" not in by_name[name]["metadata"]  # on its way already
        ]
        assert len(healthy) <= budget["status"]["disruptionsAllowed"]
    if seed % 2:
        assert max(Counter(by_name[name]["spec"]["nodeName"] for name in names).values(), default=0) <= 4
    # The same cluster gets the same answer, so that a dry run says what a run will do.
    assert [(eviction.strategy, eviction.record.pod.name) for eviction in run(seed, rules)] == [
        (eviction.strategy, eviction.record.pod.name) for eviction in evicted
    ]
