"""What metrics of resources, pods, objects and from outside say, and what is said where they say nothing."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.refs import HORIZONTAL_POD_AUTOSCALERS as AUTOSCALERS
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from tests.control_plane.controllers.horizontalpodautoscaler.autoscaling import autoscaling, external
from tests.support import eventually

TIMESTAMP = "2026-01-01T00:00:00Z"


def of_object(described: Object, **target: str) -> Object:
    metric = {"name": "load"}
    return {"type": "Object", "object": {"metric": metric, "describedObject": described, "target": target}}


async def test_versions_of_the_custom_metrics_api() -> None:
    async with autoscaling() as world:
        await world.deployment("web", 1)
        world.metrics.custom_versions = []
        target = {"type": "AverageValue", "averageValue": "5"}
        await world.autoscaler(
            "web", metrics=[{"type": "Pods", "pods": {"metric": {"name": "load"}, "target": target}}]
        )
        condition = await world.condition("web", "ScalingActive", "FailedGetPodsMetric")
        missing = "no custom metrics API (custom.metrics.k8s.io) registered"
        assert condition["message"].endswith(f"fetch metrics from custom metrics API: {missing}")
        world.metrics.custom_versions = ["v3"]
        unknown = "no known available metric versions found"

        async def says_so() -> bool:
            condition = await world.condition("web", "ScalingActive", "FailedGetPodsMetric")
            return condition["message"].endswith(unknown)

        await eventually(says_so)
        world.metrics.custom_versions = ["v3", "v1beta1", "v1beta2"]
        world.metrics.items = [
            {"describedObject": {"name": "web-0"}, "timestamp": TIMESTAMP, "window": 30, "value": "10"}
        ]
        await world.scaled("web", 2)
        assert world.metrics.asked[-1].startswith(
            "/apis/custom.metrics.k8s.io/v1beta1/namespaces/default/pods/*/load"
        )


DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
EXTERNAL_DOWN = "unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: service unavailable"
OBJECT_DOWN = "unable to get metric load on Deployment default/web: unable to fetch metrics from custom metrics API: service unavailable"


@pytest.mark.parametrize(
    ("metric", "reason", "cause", "beginning"),
    [
        (external(type="Value", value="1"), "FailedGetExternalMetric", EXTERNAL_DOWN,
         "failed to get queue external metric value: failed to get external metric queue: "),
        (external(type="AverageValue", averageValue="1"), "FailedGetExternalMetric", EXTERNAL_DOWN,
         "failed to get queue external metric value: failed to get queue external metric: "),
        (of_object(DEPLOYMENT, type="Value", value="1"), "FailedGetObjectMetric", OBJECT_DOWN,
         "failed to get object metric value: "),
        (of_object(DEPLOYMENT, type="AverageValue", averageValue="1"), "FailedGetObjectMetric", OBJECT_DOWN,
         "failed to get object metric value: failed to get load object metric: "),
        # The type decides, whatever else is there.
        (of_object(DEPLOYMENT, type="Utilization", value="1"), "FailedGetObjectMetric",
         "invalid object metric source: neither a value target nor an average value target was set",
         "failed to get object metric value: "),
        (of_object({"apiVersion": "x.com/v1", "kind": "Thing", "name": "a"}, type="Value", value="1"), "FailedGetObjectMetric",
         'unable to get metric load on Thing default/a: unable to fetch metrics from custom metrics API: unable to map kind '
         'Thing.x.com to resource: no matches for kind "Thing" in group "x.com"', "failed to get object metric value: "),
    ],
)  # fmt: skip
async def test_what_failures_say(metric: Object, reason: str, cause: str, beginning: str) -> None:
    async with autoscaling() as world:
        world.metrics.status = 503
        await world.deployment("web", 1)
        await world.autoscaler("web", metrics=[metric])
        condition = await world.condition("web", "ScalingActive", reason)
        assert condition["message"] == f"the HPA was unable to compute the replica count: {cause}"
        assert (await world.event("web", reason))["message"] == cause
        all_of_them = (await world.event("web", "FailedComputeMetricsReplicas"))["message"]
        assert all_of_them == f"invalid metrics (1 invalid out of 1), first error is: {beginning}{cause}"


async def test_pods_without_requests_and_without_metrics_wait_for_metrics() -> None:
    async with autoscaling() as world:
        await world.deployment("web", 1)
        usage = {"name": "main", "usage": {"cpu": "1"}}
        world.metrics.items = [
            {"metadata": {"name": "web-0"}, "timestamp": TIMESTAMP, "window": "15s", "containers": [usage]}
        ]
        memory = {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 50}}
        await world.autoscaler("web", metrics=[{"type": "Resource", "resource": memory}])
        condition = await world.condition("web", "ScalingActive", "FailedGetResourceMetric")
        assert condition["message"] == (
            "the HPA was unable to compute the replica count: failed to get memory utilization: "
            "did not receive metrics for targeted pods (pods might be unready)"
        )


async def test_a_container_that_some_pods_do_not_tell_of() -> None:
    async with autoscaling(downscale_stabilization=0.0) as world:
        await world.deployment("web", 2)
        world.metrics.items = [
            {"metadata": {"name": f"web-{number}"}, "timestamp": TIMESTAMP, "window": "15s",
             "containers": [{"name": container, "usage": {"cpu": "2"}}]}
            for number, container in enumerate(("main", "another"))
        ]  # fmt: skip
        target = {"type": "Utilization", "averageUtilization": 50}
        one = {"name": "cpu", "container": "main", "target": target}
        await world.autoscaler("web", metrics=[{"type": "ContainerResource", "containerResource": one}])
        await world.scaled("web", 4)  # the other one counts as idle


async def test_metrics_of_objects_are_those_of_its_own_namespace() -> None:
    async with autoscaling() as world:
        await world.deployment("web", 1)
        world.metrics.items = [{"value": "3"}]
        namespace = {"apiVersion": "v1", "kind": "Namespace", "name": "kube-system"}
        node = {"apiVersion": "v1", "kind": "Node", "name": "n"}
        both = {"type": "Value", "value": "1", "averageValue": "100"}
        await world.autoscaler("web", metrics=[of_object(namespace, **both), of_object(node, **both)])
        await world.scaled("web", 3)
        assert {asked.partition("?")[0] for asked in world.metrics.asked} == {
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/metrics/load",
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/nodes/n/load",
        }
        world.metrics.items = [{"value": "3"}, {"value": "4"}]
        condition = await world.condition("web", "ScalingActive", "FailedGetObjectMetric")
        assert condition["message"].endswith("returned 2 results when we asked for exactly one")


async def test_custom_and_external_metrics() -> None:
    async with autoscaling() as world:
        await world.deployment("web", 2)
        now = rfc3339.seconds(Clock().now())
        world.metrics.items = [
            {"describedObject": {"name": f"web-{number}"}, "timestamp": now, "value": "30"}
            for number in range(2)
        ]
        world.metrics.of_objects = [{"value": "30"}]
        described = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        metric = {"name": "requests", "selector": {"matchLabels": {"verb": "GET"}}}
        await world.autoscaler(
            "web",
            metrics=[
                {"type": "Pods", "pods": {"metric": metric, "target": {"type": "AverageValue", "averageValue": "20"}}},
                {"type": "Object", "object": {"metric": metric, "describedObject": described, "target": {"type": "Value", "value": "30"}}},
                {"type": "External", "external": {"metric": metric, "target": {"type": "AverageValue", "averageValue": "60"}}},
            ],
        )  # fmt: skip
        await world.scaled("web", 3)
        hpa = await world.client.get(AUTOSCALERS, "web", "default")
        values = [
            next(part["current"] for key, part in status.items() if key != "type")
            for status in hpa["status"]["currentMetrics"]
        ]
        assert values == [{"averageValue": "30"}, {"value": "30"}, {"averageValue": "30"}]
        assert (
            "pods metric requests above target" in (await world.event("web", "SuccessfulRescale"))["message"]
        )
        paths = {asked.partition("?")[0] for asked in world.metrics.asked}
        assert paths == {
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/requests",
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/deployments.apps/web/requests",
            "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/requests",
        }
