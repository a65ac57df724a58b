"""Asks the metrics APIs: of resources, custom and external. What they answer is checked before it counts."""

from __future__ import annotations

import contextlib
from typing import Any
from urllib.parse import quote

from pybernetes.api import quantity
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.api.text.durations import parse_duration
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import Ref, path_of
from pybernetes.client.request_options import query_text
from pybernetes.control_plane.controllers.horizontalpodautoscaler.pod_groups import CannotCompute, PodMetric
from pybernetes.lib import rfc3339

_RESOURCE = "/apis/metrics.k8s.io/v1beta1"
_CUSTOM = "custom.metrics.k8s.io"
_CUSTOM_VERSIONS = (f"{_CUSTOM}/v1beta2", f"{_CUSTOM}/v1beta1")
_EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1"
_LARGEST = 2**63 - 1
# What it means when a kind or its scale cannot be had: refused, not reached, or an answer that makes no sense.
UNMAPPED = (StatusError, OSError, ValueError, KeyError, TypeError, AttributeError)


class MetricsClient:
    """The three APIs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def _listed(self, name: str, path: str, **query: str) -> list[Any]:
        try:
            answer = await self._client.call("GET", path, query_text(**query))
        except (StatusError, OSError) as error:
            raise CannotCompute(f"unable to fetch metrics from {name} metrics API: {error}") from None
        items = answer.get("items") if isinstance(answer, dict) else None
        if not isinstance(items, list):
            raise CannotCompute(f"unable to fetch metrics from {name} metrics API: the answer is no list")
        return items

    async def _items(self, name: str, path: str, **query: str) -> list[Any]:
        items = await self._listed(name, path, **query)
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
                    chosen = [usages[container]] if container in usages else []
                if chosen and all(resource in usage for usage in chosen):
                    total = sum(_milli(usage[resource]) for usage in chosen)
                    window = parse_duration(item.get("window") or "60s")
                    result[name] = PodMetric(total, rfc3339.parse(item["timestamp"]), window)
        return result

    async def _custom(self) -> str:
        """Return where the custom metrics API is, in the version that its server prefers of those known here."""
        problem = "no known available metric versions found"
        try:
            group = await self._client.call("GET", f"/apis/{_CUSTOM}")
            with _Read("custom"):
                for version in (group.get("preferredVersion") or {}, *group["versions"]):
                    if version.get("groupVersion") in _CUSTOM_VERSIONS:
                        return f"/apis/{version['groupVersion']}"
        except NotFound:
            problem = f"no custom metrics API ({_CUSTOM}) registered"
        except (StatusError, OSError) as error:
            problem = str(error)
        raise CannotCompute(f"unable to fetch metrics from custom metrics API: {problem}")

    async def pods(
        self, metric: str, namespace: str, selector: str, metric_selector: str
    ) -> dict[str, PodMetric]:
        """Return a custom metric of pods."""
        path = f"{await self._custom()}/namespaces/{quote(namespace)}/pods/*/{quote(metric, safe='')}"
        items = await self._items("custom", path, labelSelector=selector, metricLabelSelector=metric_selector)
        with _Read("custom"):
            return {
                item["describedObject"]["name"]: PodMetric(
                    _milli(item["value"]),
                    rfc3339.parse(item["timestamp"]),
                    float(item.get("windowSeconds") or item.get("window") or 60),  # in v1beta2, in v1beta1
                )
                for item in items
            }

    async def object(self, metric: str, namespace: str, described: Object, metric_selector: str) -> int:
        """Return a custom metric of one object."""
        version, kind, metric = described.get("apiVersion") or "v1", described["kind"], quote(metric, safe="")
        path = f"{await self._custom()}/namespaces/{quote(namespace)}/"
        if kind == "Namespace" and "/" not in version:
            path += f"metrics/{metric}"  # of its own namespace, whichever is named
        else:
            group = version.rpartition("/")[0]
            try:
                ref = await self._mapping(version, kind)
            except UNMAPPED as error:
                text = f"unable to map kind {kind}{group and '.'}{group} to resource: {error}"
                raise CannotCompute(f"unable to fetch metrics from custom metrics API: {text}") from None
            path += f"{ref}/{quote(described['name'], safe='')}/{metric}"
        items = await self._listed("custom", path, metricLabelSelector=metric_selector)
        if len(items) != 1:
            text = (
                f"the custom metrics API server returned {len(items)} results when we asked for exactly one"
            )
            raise CannotCompute(f"unable to fetch metrics from custom metrics API: {text}")
        with _Read("custom"):
            return _milli(items[0]["value"])

    async def external(self, metric: str, namespace: str, metric_selector: str) -> list[int]:
        """Return the figures of an external metric."""
        path = f"{_EXTERNAL}/namespaces/{quote(namespace)}/{quote(metric, safe='')}"
        items = await self._items("external", path, labelSelector=metric_selector)
        with _Read("external"):
            return [_milli(item["value"]) for item in items]

    async def scale(self, api_version: str, kind: str, namespace: str, name: str) -> tuple[str, Object]:
        """Return the path of a scale subresource and what it says; one of ``UNMAPPED`` if there is none."""
        path = path_of(await self._mapping(api_version or "v1", kind), namespace, name, "scale")
        scale = await self._client.call("GET", path)
        if not isinstance(scale.get("spec", {}).get("replicas", 0), int):
            raise ValueError("its scale has no number of replicas")
        return path, scale

    async def _mapping(self, api_version: str, kind: str) -> Ref:
        """Return the resource of a kind, of another version of its group where the one named is not served."""
        try:
            return await self._client.ref(api_version, kind)
        except NotFound:
            group = api_version.rpartition("/")[0]
        served: list[Any] = []
        if group:
            with contextlib.suppress(NotFound):
                served = (await self._client.call("GET", f"/apis/{quote(group, safe='')}"))["versions"]
        for version in served:
            with contextlib.suppress(NotFound):
                return await self._client.ref(version["groupVersion"], kind)
        raise NotFound(404, "NotFound", f'no matches for kind "{kind}" in group "{group}"')


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
