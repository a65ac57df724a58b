"""The controller with an API server, and metrics APIs that say what a test wants, or lie, or are down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    EVENTS,
    PODS,
    Ref,
)
from pybernetes.client.refs import HORIZONTAL_POD_AUTOSCALERS as AUTOSCALERS
from pybernetes.control_plane.controllers.horizontalpodautoscaler.horizontalpodautoscaler import (
    HorizontalPodAutoscalerController,
    Settings,
)
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.lib.exposition import Exposition
from pybernetes.runtime.manager import Manager
from tests.cluster import Cluster
from tests.support import eventually

WIDGETS = Ref("example.com", "v1", "widgets", "Widget")


class Metrics:
    """A transport that answers for the metrics APIs, and passes everything else on."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.cpu: dict[str, str] = {}  # by pods
        self.status = 200
        self.items: list[Any] | None = None  # of every metrics API, instead
        self.of_objects: list[Any] | None = None  # of objects that are no pods, instead of those
        self.custom_versions = ["v1beta2"]
        self.refused = ""  # a path of the API server that does not answer
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def send(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Any = None
    ) -> Any:
        if self.refused and path.endswith(self.refused):
            return 503, {"kind": "Status", "message": "service unavailable", "code": 503}
        if "metrics.k8s.io" not in path:
            return await self._inner.send(method, path, query, body, headers)
        if path == "/apis/custom.metrics.k8s.io":
            if not self.custom_versions:
                return 404, {"kind": "Status", "reason": "NotFound", "message": "no such path", "code": 404}
            versions = [{"groupVersion": f"custom.metrics.k8s.io/{name}"} for name in self.custom_versions]
            return 200, {"versions": versions, "preferredVersion": versions[0]}
        self.asked.append(f"{path}?{query}")
        if self.status != 200:
            return self.status, {"kind": "Status", "message": "service unavailable", "code": self.status}
        if self.of_objects is not None and "/deployments.apps/" in path:
            return 200, {"items": self.of_objects}
        if self.items is not None:
            return 200, {"items": self.items}
        moment = rfc3339.seconds(Clock().now() + 100)
        return 200, {
            "items": [
                {
                    "metadata": {"name": name},
                    "timestamp": moment,
                    "window": "15s",
                    "containers": [{"name": "main", "usage": {"cpu": used, "memory": "64Mi"}}],
                }
                for name, used in self.cpu.items()
            ]
        }


class Autoscaling:
    """A cluster with the controller, which looks twenty times a second."""

    def __init__(
        self, cluster: Cluster, metrics: Metrics, controller: HorizontalPodAutoscalerController
    ) -> None:
        self.client, self.metrics, self.controller = cluster.client, metrics, controller

    async def deployment(self, name: str, replicas: int, labels: dict[str, str] | None = None) -> None:
        labels = labels or {"app": name}
        container = {"name": "main", "image": "a", "resources": {"requests": {"cpu": "1"}}}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        await self.client.create(
            DEPLOYMENTS, {"metadata": {"name": name, "namespace": "default"}, "spec": spec}
        )
        status = {"replicas": replicas, "observedGeneration": 1}
        await self.client.patch_status(DEPLOYMENTS, name, {"status": status}, "default")
        await self.pods(name, replicas, labels)

    async def pods(self, name: str, count: int, labels: dict[str, str]) -> None:
        started = rfc3339.seconds(Clock().now() - 3600)
        for number in range(count):
            meta = {"name": f"{name}-{number}", "namespace": "default", "labels": labels}
            container = {"name": "main", "image": "a", "resources": {"requests": {"cpu": "1"}}}
            await self.client.create(PODS, {"metadata": meta, "spec": {"containers": [container]}})
            ready = {"type": "Ready", "status": "True", "lastTransitionTime": started}
            status = {"phase": "Running", "startTime": started, "conditions": [ready]}
            await self.client.patch_status(PODS, f"{name}-{number}", {"status": status}, "default")

    async def autoscaler(self, name: str, **spec: Any) -> None:
        spec = {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "minReplicas": 1,
            "maxReplicas": 10,
            "metrics": [cpu(50)],
            **spec,
        }
        await self.client.create(
            AUTOSCALERS, {"metadata": {"name": name, "namespace": "default"}, "spec": spec}
        )

    async def replicas(self, name: str) -> int:
        return (await self.client.get(DEPLOYMENTS, name, "default"))["spec"]["replicas"]

    async def scaled(self, name: str, replicas: int) -> None:
        async def is_so() -> bool:
            return await self.replicas(name) == replicas

        await eventually(is_so)

    async def condition(self, name: str, kind: str, reason: str) -> Object:
        async def found() -> Object | None:
            hpa = await self.client.get(AUTOSCALERS, name, "default")
            for condition in hpa.get("status", {}).get("conditions") or ():
                if condition["type"] == kind and condition["reason"] == reason:
                    return condition
            return None

        condition = await eventually(found)
        assert condition is not None
        return condition

    async def event(self, name: str, reason: str) -> Object:
        async def found() -> Object | None:
            events = (await self.client.list(EVENTS, "default", fields=f"involvedObject.name={name}")).items
            return next((event for event in events if event["reason"] == reason), None)

        event = await eventually(found)
        assert event is not None
        return event


def cpu(share: int) -> Object:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": share}},
    }


@asynccontextmanager
async def autoscaling(**settings: Any) -> AsyncIterator[Autoscaling]:
    async with Cluster() as cluster:
        metrics = Metrics(cluster.client.transport)
        manager = Manager(Client(metrics))
        controller = HorizontalPodAutoscalerController(
            manager.runtime, Settings(sync_period=0.05, **settings)
        )
        manager.add(controller)
        working = asyncio.create_task(manager.run())
        try:
            yield Autoscaling(cluster, metrics, controller)
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)


async def test_more_and_less() -> None:
    async with autoscaling(downscale_stabilization=0.0) as world:
        await world.deployment("web", 2)
        world.metrics.cpu = {"web-0": "900m", "web-1": "1100m"}
        await world.autoscaler("web")
        await world.scaled("web", 4)
        event = await world.event("web", "SuccessfulRescale")
        assert (
            event["message"]
            == "New size: 4; reason: cpu resource utilization (percentage of request) above target"
        )
        limited = await world.condition("web", "ScalingLimited", "DesiredWithinRange")
        assert limited["message"] == "the desired count is within the acceptable range"
        active = await world.condition("web", "ScalingActive", "ValidMetricFound")
        assert active["message"].endswith("from cpu resource utilization (percentage of request)")
        hpa = await world.client.get(AUTOSCALERS, "web", "default")
        current = hpa["status"]["currentMetrics"][0]["resource"]["current"]
        assert current == {"averageUtilization": 100, "averageValue": "1"}
        assert hpa["status"]["lastScaleTime"] and hpa["status"]["desiredReplicas"] == 4
        world.metrics.cpu = {"web-0": "10m", "web-1": "10m"}
        await world.scaled("web", 1)
        text = Exposition()
        world.controller.counts.write(text)
        assert b'reconciliations_total{action="scale_down",error="none"} 1' in text.render()
        await world.client.delete(AUTOSCALERS, "web", "default")
        await eventually(lambda: not world.controller.counts.desired)


async def test_bounds_need_no_metrics() -> None:
    async with autoscaling() as world:
        world.metrics.status = 503
        await world.deployment("high", 7)
        await world.autoscaler("high", maxReplicas=5)
        await world.scaled("high", 5)
        assert "above Spec.MaxReplicas" in (await world.event("high", "SuccessfulRescale"))["message"]
        await world.deployment("low", 1)
        await world.autoscaler("low", minReplicas=3)
        await world.scaled("low", 3)
        await world.deployment("off", 0)
        await world.autoscaler("off")
        await world.condition("off", "ScalingActive", "ScalingDisabled")
        assert await world.replicas("off") == 0


@pytest.mark.parametrize(
    "items",
    [
        None,  # the API is down
        [],
        ["nonsense"],
        [{"metadata": {"name": "web-0"}, "timestamp": "x", "containers": [{"name": "main", "usage": {"cpu": "1"}}]}],
        [{"metadata": {"name": "web-0"}, "timestamp": "2026-01-01T00:00:00Z", "containers": [{"name": "main", "usage": {"cpu": "NaN"}}]}],
        [{"metadata": {"name": "other"}, "timestamp": "2026-01-01T00:00:00Z", "containers": [{"name": "main", "usage": {"cpu": "9"}}]}],
    ],
)  # fmt: skip
async def test_without_metrics_nothing_is_scaled(items: list[Any] | None) -> None:
    async with autoscaling(downscale_stabilization=0.0) as world:
        world.metrics.items = items
        world.metrics.status = 503 if items is None else 200
        await world.deployment("web", 2)
        await world.autoscaler("web")
        condition = await world.condition("web", "ScalingActive", "FailedGetResourceMetric")
        assert condition["status"] == "False"
        assert condition["message"].startswith(
            "the HPA was unable to compute the replica count: failed to get cpu utilization: "
        )
        event = await world.event("web", "FailedComputeMetricsReplicas")
        assert event["message"].startswith(
            "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: "
        )
        count = len(world.metrics.asked)
        await eventually(lambda: len(world.metrics.asked) > count + 3)
        hpa = await world.client.get(AUTOSCALERS, "web", "default")
        assert await world.replicas("web") == 2 and hpa["status"]["currentReplicas"] == 2
        version = hpa["metadata"]["resourceVersion"]
        await eventually(lambda: len(world.metrics.asked) > count + 6)
        again = await world.client.get(AUTOSCALERS, "web", "default")
        assert again["metadata"]["resourceVersion"] == version  # nothing flaps


async def test_a_metric_that_is_missing_takes_no_pods_away() -> None:
    async with autoscaling(downscale_stabilization=0.0) as world:
        await world.deployment("web", 3)
        world.metrics.cpu = {f"web-{number}": "10m" for number in range(3)}
        await world.autoscaler("web", metrics=[cpu(50), external(type="Value", value="1")])
        await world.condition("web", "ScalingActive", "FailedGetExternalMetric")
        assert await world.replicas("web") == 3
        world.metrics.cpu = {f"web-{number}": "1" for number in range(3)}
        await world.scaled("web", 6)
        text = Exposition()
        world.controller.counts.write(text)
        assert b'reconciliations_total{action="scale_up",error="internal"} 1' in text.render()


TIMESTAMP = "2026-01-01T00:00:00Z"


def external(**target: str) -> Object:
    return {"type": "External", "external": {"metric": {"name": "queue"}, "target": target}}


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


async def test_a_version_of_the_target_that_is_not_served() -> None:
    async with autoscaling() as world:
        await world.deployment("web", 2)
        world.metrics.cpu = {"web-0": "1", "web-1": "1"}
        target = {"apiVersion": "apps/v1beta2", "kind": "Deployment", "name": "web"}
        await world.autoscaler("web", scaleTargetRef=target)
        await world.scaled("web", 4)
        await world.autoscaler(
            "none", scaleTargetRef={"apiVersion": "apps/v9", "kind": "Nothing", "name": "x"}
        )
        condition = await world.condition("none", "AbleToScale", "FailedGetScale")
        assert condition["message"].endswith('current scale: no matches for kind "Nothing" in group "apps"')


async def test_a_status_that_cannot_be_written() -> None:
    async with autoscaling() as world:
        world.metrics.refused = "horizontalpodautoscalers/web/status"
        await world.deployment("web", 1)
        world.metrics.cpu = {"web-0": "500m"}
        await world.autoscaler("web")
        assert (await world.event("web", "FailedUpdateStatus"))["message"] == "service unavailable"
        text = Exposition()
        world.controller.counts.write(text)
        assert b'reconciliations_total{action="none",error="internal"}' in text.render()


async def test_two_autoscalers_for_the_same_pods() -> None:
    async with autoscaling() as world:
        labels = {"app": "same"}
        world.metrics.cpu = {"a-0": "500m"}
        await world.deployment("a", 1, labels)
        await world.deployment("b", 1, labels)
        await world.autoscaler("a")
        await world.autoscaler("b")
        for name in ("a", "b"):
            condition = await world.condition(name, "ScalingActive", "AmbiguousSelector")
            assert (
                condition["message"]
                == "pods by selector app=same are controlled by more than one HPA (e.g. [default/a default/b])"
            )
        world.metrics.cpu = {"a-0": "5", "b-0": "5"}
        count = world.controller.counts.desired.copy()
        assert await world.replicas("a") == await world.replicas("b") == 1 and count
        await world.client.delete(AUTOSCALERS, "b", "default")
        await world.scaled("a", 4)


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


async def test_to_zero_and_back() -> None:
    async with autoscaling(downscale_stabilization=0.0, scale_to_zero=True) as world:
        await world.deployment("worker", 1)
        world.metrics.items = [{"value": "0"}]
        queue = external(type="AverageValue", averageValue="10")
        await world.autoscaler("worker", minReplicas=0, metrics=[queue])
        await world.scaled("worker", 0)
        await world.condition("worker", "ScaledToZero", "ScaledToZero")
        world.metrics.items = [{"value": "25"}]
        await world.scaled("worker", 3)
        await world.condition("worker", "ScaledToZero", "NotScaledToZero")


async def test_custom_resources_and_targets_that_are_not_there() -> None:
    async with autoscaling() as world:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        scale = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        }
        version = {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
            "subresources": {"scale": scale},
        }
        names = {"plural": "widgets", "kind": "Widget", "singular": "widget"}
        spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
        await world.client.create(
            CUSTOM_RESOURCE_DEFINITIONS, {"metadata": {"name": "widgets.example.com"}, "spec": spec}
        )
        widget = {
            "metadata": {"name": "w", "namespace": "default"},
            "spec": {"replicas": 1},
            "status": {"replicas": 1, "selector": "app=w"},
        }

        async def created() -> bool:
            await world.client.create(WIDGETS, widget)
            return True

        from pybernetes.client.errors import StatusError

        await eventually(created, not_yet=(StatusError,))
        await world.pods("w", 1, {"app": "w"})
        world.metrics.cpu = {"w-0": "1"}
        await world.autoscaler(
            "w", scaleTargetRef={"apiVersion": "example.com/v1", "kind": "Widget", "name": "w"}
        )

        async def grown() -> bool:
            return (await world.client.get(WIDGETS, "w", "default"))["spec"]["replicas"] == 2

        await eventually(grown)
        await world.autoscaler("none")
        condition = await world.condition("none", "AbleToScale", "FailedGetScale")
        assert condition["message"] == (
            'the HPA controller was unable to get the target\'s current scale: deployments.apps "none" not found'
        )
        await world.event("none", "FailedGetScale")
