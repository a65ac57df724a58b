"""What the health of nodes means, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.node_lifecycle import health

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


def node(ready: str = "True", taints: tuple[tuple[str, str], ...] = (), **more: Any) -> Object:
    spec: Object = {"taints": [{"key": key, "effect": effect} for key, effect in taints]}
    if more.get("unschedulable"):
        spec["unschedulable"] = True
    conditions = [
        {"type": "Ready", "status": ready},
        {"type": "DiskPressure", "status": more.get("disk", "False")},
    ]
    return {
        "metadata": {"name": "node", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": more.get("labels", {})},
        "spec": spec,
        "status": {"conditions": conditions if ready else []},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("obj", "evict", "expected"),
    [
        (node(), "remove", []),
        (node("False"), "keep", [(NOT_READY, "NoSchedule")]),
        (node("Unknown"), "keep", [(UNREACHABLE, "NoSchedule")]),
        (node("False"), "add", [(NOT_READY, "NoSchedule"), (NOT_READY, "NoExecute")]),
        (node("Unknown"), "add", [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]),
        (node(disk="True"), "remove", [("node.kubernetes.io/disk-pressure", "NoSchedule")]),
        (node(unschedulable=True), "remove", [("node.kubernetes.io/unschedulable", "NoSchedule")]),
        # A taint that drives pods away follows the readiness at once.
        (
            node("Unknown", ((NOT_READY, "NoExecute"), (NOT_READY, "NoSchedule"))),
            "keep",
            [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")],
        ),
        (node("True", ((NOT_READY, "NoExecute"),)), "remove", []),
        (node("False", ((NOT_READY, "NoExecute"),)), "remove", [(NOT_READY, "NoSchedule")]),
        # What others put there stays.
        (node("True", (("mine", "NoExecute"), ("mine", "NoSchedule"))), "remove", [("mine", "NoExecute"), ("mine", "NoSchedule")]),
        (node(""), "keep", []),
    ],
)  # fmt: skip
def test_taints(obj: Object, evict: str, expected: list[tuple[str, str]]) -> None:
    wanted = health.taints(obj, evict, "now")
    assert [(taint["key"], taint["effect"]) for taint in wanted] == expected


def test_silence() -> None:
    first = health.silent_conditions(node(), "now")
    by_type = {condition["type"]: condition for condition in first}
    assert set(by_type) == {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}
    assert by_type["Ready"]["reason"] == "NodeStatusUnknown"
    assert by_type["Ready"]["lastTransitionTime"] == "now"
    assert by_type["PIDPressure"]["reason"] == "NodeStatusNeverUpdated"
    silent = {**node(), "status": {"conditions": first}}
    assert health.silent_conditions(silent, "later") == first


def test_old_labels_follow_the_new_ones() -> None:
    labels = {"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "plan9", "kubernetes.io/arch": "amd64"}
    assert health.labels(node(labels=labels)) == {
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
    }
    assert health.labels(node(labels={"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux"})) == {}


@pytest.mark.parametrize(
    ("ready", "state"),
    [
        ([], "Normal"),
        ([True], "Normal"),
        ([False], "FullDisruption"),
        ([False, True], "Normal"),
        ([False] * 3 + [True], "PartialDisruption"),
        ([False] * 3 + [True] * 3, "Normal"),
        ([False] * 11 + [True] * 9, "PartialDisruption"),
    ],
)
def test_zone_state(ready: list[bool], state: str) -> None:
    assert health.zone_state(len(ready), ready.count(False), 0.55) == state


def test_eviction_rate() -> None:
    rates = (0.1, 0.01)
    assert health.eviction_rate("Normal", 10, rates, 50) == 0.1
    assert health.eviction_rate("PartialDisruption", 50, rates, 50) == 0
    assert health.eviction_rate("PartialDisruption", 51, rates, 50) == 0.01
    assert health.eviction_rate("FullDisruption", 10, rates, 50) == 0.1
