"""Asks the metrics APIs: of resources, custom and external. What they answer is checked before it counts."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from pybernetes.api import quantity
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.api.text.durations import parse_duration
from pybernetes.client.client import Client
from pybernetes.client.refs import path_of
from pybernetes.client.request_options import query_text
from pybernetes.control_plane.controllers.horizontalpodautoscaler.pod_groups import CannotCompute, PodMetric
from pybernetes.lib import rfc3339

_RESOURCE = "/apis/metrics.k8s.io/v1beta1"
_CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2"
_EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1"
_LARGEST = 2**63 - 1


class MetricsClient:
    """The three APIs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def _items(self, name: str, path: str, **query: str) -> list[Any]:
        try:
            answer = await self._client.call("GET", path, query_text(**query))
        except (StatusError, OSError) as error:
            raise CannotCompute(f"unable to fetch metrics from {name} metrics API: {error}") from None
        items = answer.get("items") if isinstance(answer, dict) else None
        if not isinstance(items, list):
            raise CannotCompute(f"unable to fetch metrics from {name} metrics API: the answer is no list")
        if not items:
            raise CannotCompute(f"no metrics returned from {name} metrics API")
        return items

    async def resource(
        self, resource: str, namespace: str, selector: str, container: str = ""
    ) -> dict[str, PodMetric]:
        """Return what pods, or one container of each, use of a resource."""
        items = await self._items(
            "resource", f"{_RESOURCE}/namespaces/{quote(namespace)}/pods", labelSelector=selector
        )
        result: dict[str, PodMetric] = {}
        with _Read("resource"):
            for item in items:
                usages = {part["name"]: part.get("usage") or {} for part in item.get("containers") or ()}
                name, chosen = item["metadata"]["name"], list(usages.values())
                if container:
                    if container not in usages:
                        raise CannotCompute(
                            f"container {container} not present in metrics for pod {namespace}/{name}"
                        )
                    chosen = [usages[container]]
                if chosen and all(resource in usage for usage in chosen):
                    total = sum(_milli(usage[resource]) for usage in chosen)
                    window = parse_duration(item.get("window") or "60s")
                    result[name] = PodMetric(total, rfc3339.parse(item["timestamp"]), window)
        return result

    async def pods(
        self, metric: str, namespace: str, selector: str, metric_selector: str
    ) -> dict[str, PodMetric]:
        """Return a custom metric of pods."""
        path = f"{_CUSTOM}/namespaces/{quote(namespace)}/pods/*/{quote(metric, safe='')}"
        items = await self._items("custom", path, labelSelector=selector, metricLabelSelector=metric_selector)
        with _Read("custom"):
            return {
                item["describedObject"]["name"]: PodMetric(
                    _milli(item["value"]),
                    rfc3339.parse(item["timestamp"]),
                    float(item.get("windowSeconds") or 60),
                )
                for item in items
            }

    async def object(self, metric: str, namespace: str, described: Object, metric_selector: str) -> int:
        """Return a custom metric of one object."""
        name = quote(described["name"], safe="")
        if described["kind"] == "Namespace":
            path = f"{_CUSTOM}/namespaces/{name}/metrics/{quote(metric, safe='')}"
        else:
            try:
                ref = await self._client.ref(described.get("apiVersion") or "v1", described["kind"])
            except (StatusError, OSError) as error:
                raise CannotCompute(f"unable to fetch metrics from custom metrics API: {error}") from None
            where = f"namespaces/{quote(namespace)}/" if ref.namespaced else ""
            path = f"{_CUSTOM}/{where}{ref}/{name}/{quote(metric, safe='')}"
        items = await self._items("custom", path, metricLabelSelector=metric_selector)
        with _Read("custom"):
            return _milli(items[0]["value"])

    async def external(self, metric: str, namespace: str, metric_selector: str) -> int:
        """Return the sum of an external metric."""
        path = f"{_EXTERNAL}/namespaces/{quote(namespace)}/{quote(metric, safe='')}"
        items = await self._items("external", path, labelSelector=metric_selector)
        with _Read("external"):
            return min(_LARGEST, sum(_milli(item["value"]) for item in items))

    async def scale(self, api_version: str, kind: str, namespace: str, name: str) -> tuple[str, Object]:
        """Return the path of a scale subresource and what it says; StatusError if there is none."""
        ref = await self._client.ref(api_version or "v1", kind)
        path = path_of(ref, namespace, name, "scale")
        return path, await self._client.call("GET", path)


class _Read:
    """Turn what cannot be read into an error that says from where it came."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (KeyError, TypeError, ValueError, AttributeError)):
            text = f"unable to fetch metrics from {self._name} metrics API: the answer cannot be read ({error!r:.100})"
            raise CannotCompute(text) from None


def _milli(value: Any) -> int:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise TypeError(f"{value!r:.50} is no quantity")
    return max(-_LARGEST, min(_LARGEST, quantity.milli(value)))
