from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation.retention import kept_spec, retain

META = {"name": "x", "resourceVersion": "7"}


@pytest.mark.parametrize(
    ("kind", "desired", "current", "replicas", "expected"),
    [
        ("Deployment", {"spec": {"replicas": 1}}, {"spec": {"replicas": 5}}, False, {"spec": {"replicas": 1}}),
        ("Deployment", {"spec": {"replicas": 1}}, {"spec": {"replicas": 5}}, True, {"spec": {"replicas": 5}}),
        ("Deployment", {}, {"spec": {"replicas": 0}}, True, {"spec": {"replicas": 0}}),
        ("ServiceAccount", {}, {"secrets": [{"name": "t"}]}, False, {"secrets": [{"name": "t"}]}),
        ("ServiceAccount", {"secrets": [{"name": "m"}]}, {"secrets": [{"name": "t"}]}, False, {"secrets": [{"name": "m"}]}),
        (
            "Service",
            {"spec": {"ports": [{"port": 80}, {"name": "b", "port": 81, "protocol": "UDP"}, {"port": 82}]}},
            {"spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "healthCheckNodePort": 30001, "ports": [
                {"port": 80, "protocol": "TCP", "nodePort": 30080}, {"name": "b", "port": 81, "protocol": "UDP", "nodePort": 30081},
            ]}},
            False,
            {"spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "healthCheckNodePort": 30001, "ports": [
                {"port": 80, "nodePort": 30080}, {"name": "b", "port": 81, "protocol": "UDP", "nodePort": 30081}, {"port": 82},
            ]}},
        ),
        ("Namespace", {}, {"spec": {"finalizers": ["kubernetes"]}}, False, {"spec": {"finalizers": ["kubernetes"]}}),
    ],
)  # fmt: skip
def test_what_a_member_decides_stays(
    kind: str, desired: dict[str, Any], current: dict[str, Any], replicas: bool, expected: dict[str, Any]
) -> None:
    made = {"kind": kind, **desired}
    retain(made, {"metadata": META, **current}, replicas=replicas)
    assert made.pop("metadata") == {"resourceVersion": "7"}
    assert made == {"kind": kind, **expected}


def test_what_controllers_noted_stays() -> None:
    made: dict[str, Any] = {
        "kind": "ConfigMap",
        "metadata": {"annotations": {"mine": "1"}, "finalizers": ["mine"], "labels": {"a": "b"}},
    }
    retain(made, {"metadata": {**META, "annotations": {"theirs": "2"}}})
    assert made["metadata"] == {"resourceVersion": "7", "annotations": {"theirs": "2"}, "labels": {"a": "b"}}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Service", {"clusterIP", "ports"}),
        ("Deployment", {"replicas", "selector"}),
        ("Namespace", {"finalizers"}),
    ],
)
def test_enough_is_remembered_to_retain_it(kind: str, expected: set[str]) -> None:
    spec = dict.fromkeys(("clusterIP", "ports", "replicas", "selector", "finalizers", "template"), "x")
    assert set(kept_spec(kind, spec)) == expected
