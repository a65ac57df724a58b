import json
from typing import Any

import pytest

from pybernetes.api.autoscaling._conversion import to_v1, to_v2
from pybernetes.api.autoscaling.horizontalpodautoscaler_v1 import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create_errors, created, row

PREFIX = "autoscaling.alpha.kubernetes.io/"
TARGET = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
SERVICE = {"kind": "Service", "name": "s", "apiVersion": "v1"}
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 30}},
}
METRICS = [
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
    {
        "type": "Pods",
        "pods": {
            "metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "AverageValue", "averageValue": "1k"},
        },
    },
    {
        "type": "Object",
        "object": {"describedObject": SERVICE, "metric": {"name": "m"}, "target": {"type": "Value", "value": "10"}},
    },
    {
        "type": "Object",
        "object": {
            "describedObject": SERVICE,
            "metric": {"name": "m"},
            "target": {"type": "AverageValue", "averageValue": "10"},
        },
    },
    {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "10"}}},
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu", "container": "c", "target": {"type": "Utilization", "averageUtilization": 40},
        },
    },
]  # fmt: skip


def scaler(**spec: Any) -> Object:
    return {"spec": {"maxReplicas": 3, "scaleTargetRef": TARGET, **spec}}


def stored(metrics: list[Any], **more: Any) -> Object:
    spec = {"scaleTargetRef": TARGET, "minReplicas": 1, "maxReplicas": 3, "metrics": metrics, **more}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": spec,
    }


def test_default_is_cpu() -> None:
    assert created(RESOURCE, scaler())["spec"]["targetCPUUtilizationPercentage"] == 80


def test_metrics_travel_in_annotations() -> None:
    shown = to_v1(stored([*METRICS, CPU]))
    assert shown["spec"] == {
        "scaleTargetRef": TARGET, "minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 30,
    }  # fmt: skip
    written = json.loads(shown["metadata"]["annotations"][PREFIX + "metrics"])
    assert written[0] == {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}}
    assert written[3]["object"]["targetValue"] == "0"
    assert to_v2(shown) == stored([*METRICS, CPU])


def test_behavior_travels_in_annotations() -> None:
    rules = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
    obj = stored([CPU], behavior={"scaleUp": {**rules, "tolerance": "100m"}, "scaleDown": rules})
    text = to_v1(obj)["metadata"]["annotations"][PREFIX + "behavior"]
    assert text.startswith(
        '{"ScaleUp":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":[{"Type":'
    )
    assert to_v2(to_v1(obj)) == obj


def test_status_travels_in_annotations() -> None:
    status = {
        "currentReplicas": 1,
        "desiredReplicas": 2,
        "currentMetrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "current": {"averageUtilization": 3, "averageValue": "1"}},
            }
        ],
        "conditions": [{"type": "AbleToScale", "status": "True"}],
    }
    obj = stored([CPU]) | {"status": status}
    assert to_v1(obj)["status"]["currentCPUUtilizationPercentage"] == 3
    assert to_v2(to_v1(obj)) == obj


@pytest.mark.parametrize(
    "text", ["", "3", "[3]", "{}", "[{}", '[{"type": "Pods", "pods": []}]', '{"ScaleUp": 3}']
)
def test_annotations_that_hold_something_else(text: str) -> None:
    annotations = {PREFIX + name: text for name in ("metrics", "behavior", "conditions", "current-metrics")}
    obj = created(RESOURCE, scaler() | {"metadata": {"annotations": annotations}})
    assert obj["spec"]["targetCPUUtilizationPercentage"] == 80
    assert "annotations" not in obj["metadata"]


def test_checks_are_those_of_v2() -> None:
    annotation = json.dumps([{"type": "Pods", "pods": {"metricName": "", "targetAverageValue": "1"}}])
    obj = scaler() | {"metadata": {"annotations": {PREFIX + "metrics": annotation}}}
    assert create_errors(RESOURCE, obj) == [
        "spec.metrics[0].pods.metric.name: Required value: must specify a metric name"
    ]


def test_columns() -> None:
    obj = created(RESOURCE, scaler()) | {
        "status": {"currentReplicas": 2, "currentCPUUtilizationPercentage": 7}
    }
    assert row(RESOURCE, obj) == ["name", "Deployment/web", "cpu: 7%/80%", "1", 3, 2]
