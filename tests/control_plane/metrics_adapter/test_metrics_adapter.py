"""metrics-adapter behind an API server, with a real Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS, PODS
from pybernetes.control_plane.controllers.horizontalpodautoscaler.horizontalpodautoscaler import (
    HorizontalPodAutoscalerController,
    Settings,
)
from pybernetes.control_plane.metrics_adapter.catalogue import Ages
from pybernetes.control_plane.metrics_adapter.config import read
from pybernetes.control_plane.metrics_adapter.metrics_adapter import MetricsAdapter, Options
from pybernetes.control_plane.metrics_adapter.prometheus_client import PrometheusClient
from pybernetes.lib.http.messages import TEXT, Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.runtime.manager import Manager
from tests.aggregated import register, trust
from tests.cluster import Cluster, pod
from tests.support import eventually, require_program

CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2"
EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1"
FIGURES = b"""
queue_depth{namespace="default",pod="web-0",queue="a"} 7.5
queue_depth{namespace="default",pod="web-1",queue="a"} 2
queue_depth{namespace="default",pod="web-2",queue="a"} NaN
queue_depth{namespace="other",pod="web-0",queue="a"} 99
sales{shop="north"} 3
sales{shop="south"} 4
"""
RULES = {
    "rules": [
        {
            "seriesQuery": '{__name__=~"^queue_.*",pod!=""}',
            "resources": {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}},
            "name": {"matches": "^queue_(.*)$", "as": "waiting_$1"},
            "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
        }
    ],
    "externalRules": [
        {
            "seriesQuery": "sales",
            "resources": {"namespaced": False},
            "metricsQuery": "<<.Series>>{<<.LabelMatchers>>}",
        }
    ],
}


@asynccontextmanager
async def prometheus(directory: Path) -> AsyncIterator[str]:
    """Run Prometheus with figures that never change; yield its URL."""

    async def figures(request: Request) -> Response:
        return Response(FIGURES, 200, TEXT)

    server = Server(figures)
    port = await server.start("127.0.0.1", 0)
    (directory / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n"
        f"scrape_configs: [{{job_name: test, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n"
    )
    free = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    own = free.sockets[0].getsockname()[1]
    free.close()
    process = await asyncio.create_subprocess_exec(
        require_program("prometheus"), f"--config.file={directory / 'prometheus.yml'}",
        f"--storage.tsdb.path={directory / 'data'}", f"--web.listen-address=127.0.0.1:{own}",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    client = PrometheusClient(f"http://127.0.0.1:{own}")
    try:

        async def scraped() -> bool:
            return len(await client.vector("sales")) == 2

        await eventually(scraped, not_yet=(StatusError,))
        yield f"http://127.0.0.1:{own}"
    finally:
        client.close()
        process.terminate()
        await process.wait()
        await server.stop()


async def test_metrics_of_objects_and_of_others(tmp_path: Path) -> None:
    async with prometheus(tmp_path) as url, Cluster() as cluster:
        auth, context, authority = await trust(cluster, tmp_path, "metrics-adapter")
        custom, external = read(RULES)
        adapter = MetricsAdapter(
            cluster.client, auth, PrometheusClient(url), Options(custom, external, Ages(60, 120))
        )
        port = await adapter.start("127.0.0.1", 0, context)
        try:
            await register(cluster, "metrics-adapter", "custom.metrics.k8s.io", "v1beta2", port, authority)
            await register(cluster, "metrics-adapter", "external.metrics.k8s.io", "v1beta1", port, authority)
            await _check(cluster)
            await _autoscale(cluster)
        finally:
            await adapter.stop()


async def _check(cluster: Cluster) -> None:
    call = cluster.client.call
    listed = await call("GET", CUSTOM)
    assert [row["name"] for row in listed["resources"]] == ["namespaces/waiting_depth", "pods/waiting_depth"]
    for number in range(3):
        await cluster.client.create(PODS, pod(f"web-{number}", labels={"app": "web", "number": str(number)}))
    one = await call("GET", f"{CUSTOM}/namespaces/default/pods/web-0/waiting_depth")
    assert one["kind"] == "MetricValueList" and one["items"][0]["value"] == "7500m"
    assert one["items"][0]["describedObject"] == {
        "kind": "Pod", "apiVersion": "v1", "namespace": "default", "name": "web-0"
    }  # fmt: skip
    every = await call("GET", f"{CUSTOM}/namespaces/default/pods/*/waiting_depth", "labelSelector=app%3Dweb")
    values = {item["describedObject"]["name"]: item["value"] for item in every["items"]}
    assert values == {"web-0": "7500m", "web-1": "2"}  # what is no number is left out
    some = await call("GET", f"{CUSTOM}/namespaces/default/pods/*/waiting_depth", "labelSelector=number%3D1")
    assert len(some["items"]) == 1
    none = await call(
        "GET",
        f"{CUSTOM}/namespaces/default/pods/*/waiting_depth",
        "labelSelector=app%3Dweb&metricLabelSelector=queue%3Db",
    )
    assert none["items"] == []
    whole = await call("GET", f"{CUSTOM}/namespaces/other/metrics/waiting_depth")
    assert whole["items"][0]["value"] == "99"
    sales = await call("GET", f"{EXTERNAL}/namespaces/default/sales")
    assert sorted(item["value"] for item in sales["items"]) == ["3", "4"]
    north = await call("GET", f"{EXTERNAL}/namespaces/default/sales", "labelSelector=shop%3Dnorth")
    assert [item["metricLabels"]["shop"] for item in north["items"]] == ["north"]
    for path, code in (
        (f"{CUSTOM}/namespaces/default/pods/web-0/other", 404),
        (f"{CUSTOM}/namespaces/default/pods/web-9/waiting_depth", 404),
        (f"{CUSTOM}/namespaces/default/things/a/waiting_depth", 404),
        (f"{EXTERNAL}/namespaces/default/other", 404),
    ):
        with pytest.raises(StatusError) as raised:
            await call("GET", path)
        assert raised.value.code == code


async def _autoscale(cluster: Cluster) -> None:
    """Have the autoscaler of pods ask through the API server, as in a whole cluster."""
    client, labels = cluster.client, {"app": "web"}
    container = {"name": "main", "image": "a"}
    spec = {"replicas": 3, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}}  # fmt: skip
    meta = {"name": "web", "namespace": "default"}
    await client.create(DEPLOYMENTS, {"metadata": meta, "spec": spec})
    await client.patch_status(DEPLOYMENTS, "web", {"status": {"replicas": 3}}, "default")
    for number in range(3):
        await client.patch_status(PODS, f"web-{number}", {"status": {"phase": "Running"}}, "default")
    waiting = {"metric": {"name": "waiting_depth"}, "target": {"type": "AverageValue", "averageValue": "2"}}
    sales = {"metric": {"name": "sales"}, "target": {"type": "AverageValue", "averageValue": "1"}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    metrics = [{"type": "Pods", "pods": waiting}, {"type": "External", "external": sales}]
    wanted = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 10, "metrics": metrics}
    await client.create(HORIZONTAL_POD_AUTOSCALERS, {"metadata": meta, "spec": wanted})
    manager = Manager(Client(client.transport))
    manager.add(HorizontalPodAutoscalerController(manager.runtime, Settings(sync_period=0.2)))
    working = asyncio.create_task(manager.run())

    async def told() -> Object:
        hpa = await client.get(HORIZONTAL_POD_AUTOSCALERS, "web", "default")
        return hpa.get("status", {}) if hpa.get("status", {}).get("currentMetrics") else {}

    async def scaled() -> bool:
        return (await client.get(DEPLOYMENTS, "web", "default"))["spec"]["replicas"] == 7  # one per sale

    try:
        await eventually(scaled)
        status = await eventually(told)
        assert status["currentMetrics"][0]["pods"]["current"] == {
            "averageValue": "4750m"
        }  # of two: one is NaN
        assert status["currentMetrics"][1]["external"]["metric"] == {"name": "sales"}
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def test_a_prometheus_that_is_down_is_an_error() -> None:
    client = PrometheusClient("http://127.0.0.1:1")
    with pytest.raises(StatusError, match="unable to fetch metrics from Prometheus"):
        await client.vector("up")
    with pytest.raises(ValueError, match="no URL"):
        PrometheusClient("file:///etc/passwd")
