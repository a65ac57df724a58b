"""PodLifeTime: age, states, conditions, exit codes and owners."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.lib import rfc3339
from tests.control_plane.descheduler.worlds import NOW, cluster, evictions, gone, node, pod, policy

NODES = [node("n1"), node("n2")]


def waiting(reason: str) -> dict[str, Any]:
    return {"state": {"waiting": {"reason": reason}}}


def ended(reason: str, code: int) -> dict[str, Any]:
    return {"state": {"terminated": {"reason": reason, "exitCode": code}}}


def condition(kind: str, status: str, seconds: float, reason: str = "") -> dict[str, Any]:
    since = rfc3339.seconds(NOW - seconds)
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": since}


@pytest.mark.parametrize(
    ("there", "arguments", "goes"),
    [
        ({"age": 700}, {"maxPodLifeTimeSeconds": 600}, True),
        ({"age": 600}, {"maxPodLifeTimeSeconds": 600}, False),
        ({"age": -5}, {"maxPodLifeTimeSeconds": 0}, False),
        ({}, {"states": ["Running"]}, True),
        ({}, {"states": ["Pending"]}, False),
        ({"status": {"reason": "NodeAffinity"}}, {"states": ["NodeAffinity"]}, True),
        ({"status": {"containerStatuses": [waiting("CrashLoopBackOff")]}}, {"states": ["CrashLoopBackOff"]}, True),
        ({"status": {"containerStatuses": [ended("OOMKilled", 137)]}}, {"states": ["OOMKilled"]}, True),
        ({"status": {"initContainerStatuses": [waiting("ErrImagePull")]}}, {"states": ["ErrImagePull"]}, False),
        ({"status": {"initContainerStatuses": [waiting("ErrImagePull")]}},
         {"states": ["ErrImagePull"], "includingInitContainers": True}, True),
        ({"status": {"ephemeralContainerStatuses": [waiting("ErrImagePull")]}},
         {"states": ["ErrImagePull"], "includingEphemeralContainers": True}, True),
        ({"status": {"phase": "Succeeded"}}, {"states": ["Succeeded"]}, True),
        ({"status": {"containerStatuses": [ended("Error", 3)]}}, {"exitCodes": [3]}, True),
        ({"status": {"containerStatuses": [ended("Error", 3)]}}, {"exitCodes": [4]}, False),
        ({"status": {"initContainerStatuses": [ended("Error", 3)]}}, {"exitCodes": [3]}, False),
        ({"status": {"initContainerStatuses": [ended("Error", 3)]}},
         {"exitCodes": [3], "includingInitContainers": True}, True),
        ({}, {"states": ["Running"], "ownerKinds": {"include": ["ReplicaSet"]}}, True),
        ({}, {"states": ["Running"], "ownerKinds": {"include": ["Job"]}}, False),
        ({}, {"states": ["Running"], "ownerKinds": {"exclude": ["ReplicaSet"]}}, False),
        ({"status": {"conditions": [condition("Ready", "False", 100, "Why")]}},
         {"conditions": [{"type": "Ready", "status": "False", "reason": "Why"}]}, True),
        ({"status": {"conditions": [condition("Ready", "True", 100)]}},
         {"conditions": [{"type": "Ready", "status": "False"}]}, False),
        ({"status": {"conditions": [condition("Ready", "False", 100)]}},
         {"conditions": [{"type": "Ready", "minTimeSinceLastTransitionSeconds": 101}]}, False),
        ({"status": {"conditions": [condition("Ready", "False", 101)]}},
         {"conditions": [{"type": "Ready", "minTimeSinceLastTransitionSeconds": 101}]}, True),
        ({"status": {"conditions": [{"type": "Ready", "status": "False"}]}},
         {"conditions": [{"type": "Ready", "minTimeSinceLastTransitionSeconds": 1}]}, False),
        ({"age": 700}, {"maxPodLifeTimeSeconds": 600, "labelSelector": {"matchLabels": {"a": "b"}}}, False),
        ({"age": 700, "labels": {"a": "b"}},
         {"maxPodLifeTimeSeconds": 600, "labelSelector": {"matchLabels": {"a": "b"}}}, True),
        ({"age": 700}, {"maxPodLifeTimeSeconds": 600, "namespaces": {"include": ["other"]}}, False),
        ({"age": 700, "deleting": True}, {"maxPodLifeTimeSeconds": 600}, False),
    ],
)  # fmt: skip
def test_pods(there: Any, arguments: Any, goes: bool) -> None:
    assert gone(NODES, [pod("p", **there)], {"PodLifeTime": arguments}) == (["p"] if goes else [])


def test_the_oldest_go_first_and_limits_hold() -> None:
    there = [pod(f"p{age}", age=age) for age in (700, 900, 800)]
    rules = policy({"PodLifeTime": {"maxPodLifeTimeSeconds": 600}}, maxNoOfPodsToEvictTotal=2)
    evicted = evictions(cluster(NODES, there), rules)
    assert [eviction.record.pod.name for eviction in evicted] == ["p900", "p800"]


def test_an_eviction_that_fails_does_not_keep_others() -> None:
    there = [pod(f"p{age}", age=age) for age in (700, 900, 800)]
    rules = policy({"PodLifeTime": {"maxPodLifeTimeSeconds": 600}})
    evicted = evictions(
        cluster(NODES, there), rules, refuse=lambda eviction: eviction.record.pod.name == "p900"
    )
    assert [eviction.record.pod.name for eviction in evicted] == ["p800", "p700"]
