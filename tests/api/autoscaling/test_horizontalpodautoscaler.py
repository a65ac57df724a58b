from typing import Any

import pytest

from pybernetes.api.autoscaling.horizontalpodautoscaler import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create_errors, created, row, status_errors

TARGET = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
}
PODS = {
    "type": "Pods",
    "pods": {"metric": {"name": "rps"}, "target": {"type": "AverageValue", "averageValue": "1k"}},
}
EXTERNAL = {
    "type": "External",
    "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "10"}},
}


def scaler(**spec: Any) -> Object:
    return {"spec": {"maxReplicas": 3, "scaleTargetRef": TARGET, **spec}}


def test_defaults() -> None:
    obj = created(RESOURCE, scaler(behavior={"scaleUp": {"tolerance": "0.1"}}))
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    assert obj["spec"]["minReplicas"] == 1
    assert obj["spec"]["metrics"] == [{"type": "Resource", "resource": cpu}]
    assert obj["spec"]["behavior"] == {
        "scaleUp": {
            "tolerance": "100m",
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}, percent],
        },
        "scaleDown": {"selectPolicy": "Max", "policies": [percent]},
    }
    assert obj["status"] == {"desiredReplicas": 0}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"maxReplicas": 0},
            [
                "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
                "spec.maxReplicas: Required value",
            ],
        ),
        (
            {"minReplicas": -1},
            ["spec.minReplicas: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            {"minReplicas": 0},
            [
                "spec.metrics: Forbidden: "
                "must specify at least one Object or External metric to support scaling to zero replicas"
            ],
        ),
        ({"minReplicas": 0, "metrics": [EXTERNAL]}, []),
        (
            {"scaleTargetRef": {"kind": "X", "name": "a/b", "apiVersion": "v1"}},
            [
                "spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'",
                'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
            ],
        ),
        ({"scaleTargetRef": {"kind": "ReplicationController", "name": "a", "apiVersion": "v1"}}, []),
        (
            {"metrics": [PODS | {"resource": MEMORY["resource"]}]},
            ["spec.metrics[0].resource: Forbidden: must populate the given metric source only"],
        ),
        (
            {"metrics": [{"type": "Pods"}]},
            ["spec.metrics[0].pods: Required value: must populate information for the given metric source"],
        ),
        (
            {
                "metrics": [
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}
                ]
            },
            [
                "spec.metrics[0].resource.target.averageUtilization: Required value: "
                "must set either a target raw value or a target utilization"
            ],
        ),
        (
            {"behavior": {"scaleUp": {"stabilizationWindowSeconds": 4000, "policies": [{"type": "Pods"}]}}},
            [
                "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 4000: "
                "must be less than or equal to 3600",
                "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
                "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than zero",
            ],
        ),
    ],
)
def test_create(spec: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, scaler(**spec)) == expected


def test_status() -> None:
    assert status_errors(RESOURCE, scaler(), {"currentReplicas": -1}) == [
        "status.currentReplicas: Invalid value: -1: must be greater than or equal to 0"
    ]


@pytest.mark.parametrize(
    ("metrics", "current", "shown"),
    [
        ([MEMORY], [], "memory: <unknown>/1Gi"),
        ([MEMORY], [{"resource": {"current": {"averageValue": "5"}}}], "memory: 5/1Gi"),
        ([PODS, EXTERNAL], [], "<unknown>/1k, <unknown>/10"),
        ([MEMORY, PODS, EXTERNAL], [], "memory: <unknown>/1Gi, <unknown>/1k + 1 more..."),
        ([], [], "<none>"),
    ],
)
def test_columns(metrics: list[Any], current: list[Any], shown: str) -> None:
    obj = scaler(metrics=metrics) | {"status": {"currentMetrics": current, "currentReplicas": 2}}
    assert row(RESOURCE, obj) == ["name", "Deployment/web", shown, "<unset>", 3, 2]
