"""What the controller does to the targets of autoscalers, and what it says of them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.refs import (
    CUSTOM_RESOURCE_DEFINITIONS,
    Ref,
)
from pybernetes.client.refs import HORIZONTAL_POD_AUTOSCALERS as AUTOSCALERS
from pybernetes.lib.metrics.exposition import Exposition
from tests.control_plane.controllers.horizontalpodautoscaler.autoscaling import autoscaling, cpu, external
from tests.support import eventually

WIDGETS = Ref("example.com", "v1", "widgets", "Widget")


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
