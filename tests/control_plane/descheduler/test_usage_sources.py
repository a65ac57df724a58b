"""Where figures of real use come from: the metrics API and Prometheus, each behind a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest

from pybernetes.client.client import Client
from pybernetes.client.refs import SECRETS
from pybernetes.control_plane.descheduler.node_usage import Source, Usage
from pybernetes.control_plane.descheduler.policy import Policy
from pybernetes.control_plane.descheduler.usage_sources import UsageSources, shares
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.server import Server
from tests.cluster import Cluster

JSON = b"application/json"


class Prometheus:
    """Answers queries, and remembers what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked, self.tokens = orjson.dumps(answer), [""], [""]

    async def handle(self, request: Request) -> Response:
        self.asked.append(parse_qs(request.query_text)["query"][0])
        self.tokens.append(request.header(b"authorization"))
        return Response(self.answer, 200, JSON)


@asynccontextmanager
async def serving(prometheus: Prometheus) -> AsyncIterator[str]:
    server = Server(prometheus.handle, limits=Limits(body=1024, head=16 * 1024))
    port = await server.start("127.0.0.1", 0, None)
    try:
        yield f"http://127.0.0.1:{port}/base"
    finally:
        await server.stop()


def vector(**values: float) -> Any:
    result = [{"metric": {"instance": name}, "value": [0, str(value)]} for name, value in values.items()]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


async def test_prometheus() -> None:
    prometheus = Prometheus(vector(a=0.825, b=0.1))
    async with Cluster() as cluster, serving(prometheus) as url:
        secret = {
            "metadata": {"name": "s", "namespace": "default"},
            "stringData": {"prometheusAuthToken": "secret"},
        }
        await cluster.client.create(SECRETS, secret)
        token = {"secretReference": {"namespace": "default", "name": "s"}}
        sources = UsageSources(cluster.client, Policy(prometheus={"url": url, "authToken": token}))
        usage = await sources.ask(Source("Prometheus", 'sum(x{a="b"}) by (instance)'))
        assert usage == Usage({"a": {"MetricResource": 82}, "b": {"MetricResource": 10}}, None)
        assert prometheus.asked[-1] == 'sum(x{a="b"}) by (instance)'
        assert prometheus.tokens[-1] == "Bearer secret"
        sources.close()
    gone = UsageSources(cluster.client, Policy(prometheus={"url": url}))
    answer = await gone.ask(Source("Prometheus", "q"))
    assert isinstance(answer, str) and "connection refused" in answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"status": "error", "error": "no"}, "unable to capture prometheus metrics: no"),
        ({"status": "success", "data": {"resultType": "scalar"}},
         'expected query results to be of type "vector", got "scalar" instead'),
        ({"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [0, "1"]}]}},
         "the collected metrics sample is missing 'instance' key"),
        (vector(a=1.5), 'the collected metrics sample for "a" has value 1.5 outside of <0; 1> interval'),
        ([], "unable to capture prometheus metrics: "),
    ],
)  # fmt: skip
def test_bad_answers(answer: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        shares(answer)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "answer",
    [
        vector(a=float("nan")),
        vector(a=float("inf")),
        vector(a=-0.1),
        vector(a=1e300),
        {"status": "success", "data": []},
        {"status": "success", "data": {"resultType": "vector", "result": {"a": 1}}},
        {"status": "success", "data": {"resultType": "vector", "result": [None]}},
        {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"instance": "a"}}]}},
        {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"instance": "a"}, "value": 1}]}},
        {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"instance": "a"}, "value": [1]}]}},
        {"status": "success", "data": {"resultType": "vector", "result": [{"metric": 5, "value": [0, "1"]}]}},
        "text",
        17,
    ],
)  # fmt: skip
async def test_a_prometheus_that_lies(answer: Any) -> None:
    """Whatever it says, there are no figures: the plugin does nothing in this pass."""
    prometheus = Prometheus(answer)
    async with serving(prometheus) as url:
        sources = UsageSources(Client(MetricsApi()), Policy(prometheus={"url": url}))  # type: ignore[arg-type]
        usage = await sources.ask(Source("Prometheus", "q"))
        sources.close()
    assert isinstance(usage, str) and usage.startswith("error getting node usage: ")


@pytest.mark.parametrize(
    ("cpu", "nodes"), [("9E", 2**52), ("-9E", -(2**52)), ("-1", -1000), ("1e3", 1_000_000), ("1n", 1)]
)
async def test_absurd_figures_are_bounded(cpu: str, nodes: int) -> None:
    api = MetricsApi()
    api.cpu = cpu
    sources = UsageSources(Client(api), Policy(collects_metrics=True))  # type: ignore[arg-type]
    for _ in range(3):
        await sources.collect()
    usage = await sources.ask(Source("KubernetesMetrics"))
    assert isinstance(usage, Usage) and usage.nodes["n1"]["cpu"] == nodes
    assert usage.pods is not None and abs(usage.pods["default/p"]["cpu"]) <= 2**52


@pytest.mark.parametrize(
    "items", [[{}], [None], [{"metadata": {"name": "n1"}, "usage": [1]}], [{"metadata": 5}]]
)
async def test_a_metrics_api_that_answers_anything(items: list[Any]) -> None:
    class Broken(MetricsApi):
        async def send(self, method: str, path: str, query: str, body: bytes, headers: Any) -> Any:
            return 200, {"kind": "List", "metadata": {}, "items": items}

    sources = UsageSources(Client(Broken()), Policy(collects_metrics=True))  # type: ignore[arg-type]
    usage = await sources.ask(Source("KubernetesMetrics"))
    assert isinstance(usage, str) and usage.startswith("error getting node usage: ")


class MetricsApi:
    """A transport that answers as the metrics API does."""

    def __init__(self) -> None:
        self.cpu = "1"

    async def send(self, method: str, path: str, query: str, body: bytes, headers: Any) -> Any:
        assert (method, path.rpartition("/")[0]) == ("GET", "/apis/metrics.k8s.io/v1beta1")
        usage = {"cpu": self.cpu, "memory": "1Ki"}
        if path.endswith("/nodes"):
            items: list[Any] = [{"metadata": {"name": "n1"}, "usage": usage}]
        else:
            containers = [{"name": "a", "usage": usage}, {"name": "b", "usage": usage}]
            items = [{"metadata": {"namespace": "default", "name": "p"}, "containers": containers}]
        return 200, {"kind": "List", "metadata": {}, "items": items}


async def test_the_metrics_api() -> None:
    api = MetricsApi()
    client = Client(api)  # type: ignore[arg-type]
    sources = UsageSources(client, Policy(collects_metrics=True))
    pods = {"default/p": {"cpu": 2000, "memory": 2048}}
    assert await sources.ask(Source("KubernetesMetrics")) == Usage(
        {"n1": {"cpu": 1000, "memory": 1024}}, pods
    )
    api.cpu = "2"
    await sources.collect()  # new figures count a tenth
    usage = await sources.ask(Source("KubernetesMetrics"))
    assert isinstance(usage, Usage) and usage.nodes == {"n1": {"cpu": 1100, "memory": 1024}}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Source("KubernetesMetrics"), "metrics client not initialized"),
        (Source("Prometheus", "q"), "prometheus client not initialized"),
        (Source("Other"), "unrecognized metrics source"),
        (Source(""), "metrics source is empty"),
    ],
)
async def test_sources_that_are_not_there(source: Source, message: str) -> None:
    sources = UsageSources(Client(MetricsApi()), Policy())  # type: ignore[arg-type]
    assert await sources.ask(source) == f"error initializing usage client: {message}"
