"""The controller with an API server, and metrics APIs that say what a test wants, or lie, or are down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import (
    DEPLOYMENTS,
    EVENTS,
    PODS,
)
from pybernetes.client.refs import HORIZONTAL_POD_AUTOSCALERS as AUTOSCALERS
from pybernetes.control_plane.controllers.horizontalpodautoscaler.horizontalpodautoscaler import (
    HorizontalPodAutoscalerController,
    Settings,
)
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.runtime.manager import Manager
from tests.cluster import Cluster
from tests.support import eventually


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
        async def matching() -> Object | None:
            hpa = await self.client.get(AUTOSCALERS, name, "default")
            for condition in hpa.get("status", {}).get("conditions") or ():
                if condition["type"] == kind and condition["reason"] == reason:
                    return condition
            return None

        condition = await eventually(matching)
        assert condition is not None
        return condition

    async def event(self, name: str, reason: str) -> Object:
        async def matching() -> Object | None:
            events = (await self.client.list(EVENTS, "default", fields=f"involvedObject.name={name}")).items
            return next((event for event in events if event["reason"] == reason), None)

        event = await eventually(matching)
        assert event is not None
        return event


def cpu(share: int) -> Object:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": share}},
    }


def external(**target: str) -> Object:
    return {"type": "External", "external": {"metric": {"name": "queue"}, "target": target}}


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
