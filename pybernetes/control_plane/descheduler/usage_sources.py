"""Asks others what nodes and pods really use: the metrics API, or Prometheus."""

from __future__ import annotations

import base64
import ssl
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import SECRETS, Ref
from pybernetes.control_plane.descheduler.node_usage import Amounts, Source, Usage
from pybernetes.control_plane.descheduler.policy import Policy
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import located

NODE_METRICS = Ref("metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", False)
POD_METRICS = Ref("metrics.k8s.io", "v1beta1", "pods", "PodMetrics")
COLLECT_SECONDS = 5.0
_BETA = 0.9  # how much of the figures so far is kept when new ones come
_SECONDS = 30.0
_MOST = 2**52  # more than any machine has; floating-point numbers hold it exactly
# What can go wrong when others are asked; the last three: their answer is not of the form that was agreed on.
FAILURES = (
    StatusError,
    OSError,
    TimeoutError,
    RequestFailed,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TOKEN_KEY = "prometheusAuthToken"


class UsageSources:
    """Figures of nodes are smoothed over time, those of pods are the latest."""

    def __init__(self, client: Client, policy: Policy) -> None:
        self._client, self._policy = client, policy
        self._http = HttpClient()
        self._nodes: dict[str, Amounts] = {}

    @property
    def collects(self) -> bool:
        """Whether the metrics API is to be asked every few seconds."""
        return self._policy.collects_metrics

    async def collect(self) -> None:
        """Ask the metrics API about nodes, once."""
        page = await self._client.list(NODE_METRICS)
        for item in page.items:
            name, new = item["metadata"]["name"], _amounts(item.get("usage") or {})
            old = self._nodes.get(name)
            self._nodes[name] = new if old is None else {
                resource: _clamped(round(_BETA * old.get(resource, 0) + (1 - _BETA) * amount))
                for resource, amount in new.items()
            }  # fmt: skip

    async def ask(self, source: Source) -> Usage | str:
        """Return figures, or a text that says why there are none."""
        try:
            if source.name == "KubernetesMetrics":
                return await self._from_metrics_api()
            if source.name == "Prometheus":
                return await self._from_prometheus(source.query)
        except FAILURES as error:
            return f"error getting node usage: {error}"
        problem = "unrecognized metrics source" if source.name else "metrics source is empty"
        return f"error initializing usage client: {problem}"

    async def _from_metrics_api(self) -> Usage | str:
        if not self._policy.collects_metrics:
            return "error initializing usage client: metrics client not initialized"
        if not self._nodes:
            await self.collect()
        pods: dict[str, Amounts] = {}
        for item in (await self._client.list(POD_METRICS)).items:
            meta, total = item["metadata"], {"cpu": 0, "memory": 0}
            for container in item.get("containers") or ():
                for resource, amount in _amounts(container.get("usage") or {}).items():
                    total[resource] = _clamped(total.get(resource, 0) + amount)
            pods[f"{meta['namespace']}/{meta['name']}"] = total
        return Usage(dict(self._nodes), pods)

    async def _from_prometheus(self, query: str) -> Usage | str:
        prometheus = self._policy.prometheus
        if prometheus is None:
            return "error initializing usage client: prometheus client not initialized"
        authority = _ACCOUNT / "ca.crt"
        context = (
            ssl.create_default_context(cafile=str(authority) if authority.exists() else None)
            if prometheus["url"].startswith("https:")
            else None
        )
        query_url = f"{prometheus['url'].rstrip('/')}/api/v1/query"
        peer, path = located(f"{query_url}?query={quote(query, safe='')}&time={time.time():.3f}", context)
        token = await self._token(prometheus)
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        reply = await self._http.send(peer, "GET", path, b"", headers, _SECONDS)
        try:
            answer = orjson.loads(reply.body)
        except orjson.JSONDecodeError:
            raise ValueError(f"unable to capture prometheus metrics: status {reply.status}") from None
        return Usage(shares(answer), None)

    async def _token(self, prometheus: Object) -> str:
        """Return the token of a Secret, or that of the service account that this runs as, if any."""
        reference = (prometheus.get("authToken") or {}).get("secretReference")
        if reference is None:
            path = _ACCOUNT / "token"
            return path.read_text().strip() if path.exists() else ""
        namespace, name = reference["namespace"], reference["name"]
        secret = await self._client.get(SECRETS, name, namespace)
        token = base64.b64decode((secret.get("data") or {}).get(_TOKEN_KEY, "")).decode().strip()
        if not token:
            raise ValueError(f'prometheus authentication token secret missing "{_TOKEN_KEY}" data or empty')
        return token

    def close(self) -> None:
        """End connections."""
        self._http.close()


def shares(answer: Any) -> dict[str, Amounts]:
    """Return what a query's answer says of nodes: a share of each between 0 and 1, kept in percent."""
    if not isinstance(answer, dict) or answer.get("status") != "success":
        error = answer.get("error", "") if isinstance(answer, dict) else ""
        raise ValueError(f"unable to capture prometheus metrics: {error}")
    data = answer.get("data") or {}
    if data.get("resultType") != "vector":
        sort = data.get("resultType", "")
        raise ValueError(f'expected query results to be of type "vector", got "{sort}" instead')
    result: dict[str, Amounts] = {}
    for sample in data.get("result") or ():
        node = (sample.get("metric") or {}).get("instance")
        if node is None:
            raise ValueError("the collected metrics sample is missing 'instance' key")
        value = float(sample["value"][1])
        if not 0 <= value <= 1:
            text = f'the collected metrics sample for "{node}" has value {value:g} outside of <0; 1> interval'
            raise ValueError(text)
        result[node] = {"MetricResource": int(value * 100)}
    return result


def _amounts(usage: Object) -> Amounts:
    return {
        name: _clamped(quantity.milli(text) if name == "cpu" else quantity.integer(text))
        for name, text in usage.items()
    }


def _clamped(amount: int) -> int:
    """Return an amount that sums of many nodes can hold, whatever was said to have been measured."""
    return max(-_MOST, min(_MOST, amount))
