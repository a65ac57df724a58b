"""The API group metrics.k8s.io: NodeMetrics and PodMetrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any

import orjson

from pybernetes.api import errors, quantity
from pybernetes.api.request_info import RequestInfo
from pybernetes.api.resource import Object
from pybernetes.api.selectors import SelectorError, parse_fields, parse_labels
from pybernetes.api.text.durations import show_duration
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import PODS
from pybernetes.control_plane.metrics_server.own_metrics import OwnMetrics
from pybernetes.control_plane.metrics_server.scraper import Scraper
from pybernetes.control_plane.metrics_server.storage import PodUsage, Storage, Usage
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.messages import Request
from pybernetes.runtime.aggregated_api import tables
from pybernetes.runtime.aggregated_api.api_group import ApiGroup, ServedResource
from pybernetes.runtime.aggregated_api.json_answer import JsonAnswer, joined, listed

# Samples are written as they are made: as bytes a list of them takes a tenth of the memory.
Writer = Callable[[Object], bytes]
_PAGE = 250
_DECIMAL = ("n", "u", "m", "", "k", "M", "G")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_COLUMNS = [
    {
        "name": "Name",
        "type": "string",
        "format": "name",
        "description": "Name of the resource",
        "priority": 0,
    },
    {"name": "cpu", "type": "string", "format": "quantity", "description": "", "priority": 0},
    {"name": "memory", "type": "string", "format": "quantity", "description": "", "priority": 0},
    {"name": "Window", "type": "string", "format": "duration", "description": "", "priority": 0},
]
_TEXT, _USAGE = {"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}
_TYPE = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object"}}
_SAMPLE = {**_TYPE, "timestamp": {"type": "string", "format": "date-time"}, "window": _TEXT}


def cpu(nanocores: int) -> str:
    """Return CPU usage as a quantity: whole numbers, with the largest suffix that leaves them whole."""
    return _whole(nanocores, 1000, _DECIMAL)


def memory(size: int) -> str:
    """Return bytes as a quantity: in powers of 1024 from 1Ki on, in powers of 1000 below."""
    return _whole(size, 1024, _BINARY) if size >= 1024 else _whole(size, 1000, _DECIMAL[3:])


def _whole(number: int, base: int, suffixes: tuple[str, ...]) -> str:
    if not number:
        return "0"
    place = 0
    while number % base == 0 and place < len(suffixes) - 1:
        number, place = number // base, place + 1
    return f"{number}{suffixes[place]}"


class ResourceMetrics(ApiGroup):
    """What nodes and pods use, for those that exist."""

    group, version, title = "metrics.k8s.io", "v1beta1", "Kubernetes metrics-server"
    schemas = {
        "NodeMetrics": {**_SAMPLE, "usage": _USAGE},
        "NodeMetricsList": {**_TYPE, "items": {"type": "array", "items": {"$ref": "NodeMetrics"}}},
        "PodMetrics": {**_SAMPLE, "containers": {"type": "array", "items": {"$ref": "ContainerMetrics"}}},
        "PodMetricsList": {**_TYPE, "items": {"type": "array", "items": {"$ref": "PodMetrics"}}},
        "ContainerMetrics": {"name": _TEXT, "usage": _USAGE},
    }

    def __init__(
        self, client: Client, scraper: Scraper, storage: Storage, metrics: OwnMetrics, clock: Clock | None = None
    ) -> None:  # fmt: skip
        self._client, self._scraper, self._storage, self._metrics = client, scraper, storage, metrics
        self._clock = clock or Clock()

    def resources(self) -> Sequence[ServedResource]:
        """Return the two kinds."""
        return (ServedResource("nodes", "NodeMetrics", False), ServedResource("pods", "PodMetrics", True))

    async def answer(self, info: RequestInfo, request: Request) -> Object | JsonAnswer:
        """Return an object or a list, or a table of them."""
        if info.resource not in ("nodes", "pods") or info.subresource:
            raise errors.no_such_resource()
        if (info.resource == "nodes" and info.namespace) or (
            info.resource == "pods" and info.name and not info.namespace
        ):
            raise errors.no_such_resource()
        labels, fields = _selectors(request)
        await self._scraper.wanted()
        kind = "NodeMetrics" if info.resource == "nodes" else "PodMetrics"
        write = _writer({"kind": kind, "apiVersion": self.group_version}, info, request)
        written = (
            [joined(write(item) for item in self._nodes(info, labels, fields))]
            if info.resource == "nodes"
            else [joined(page) async for page in self._pods(info, labels, fields, write)]
        )
        written = [page for page in written if page]
        if info.name and not written:
            name = f"{info.namespace}/{info.name}" if info.namespace else info.name
            raise errors.not_found(self.group, kind.lower(), name)
        if tables.wanted(request):
            return listed(tables.table((), _COLUMNS if written else [], request), written)
        if info.name:
            return JsonAnswer((written[0],))
        head = {"kind": f"{kind}List", "apiVersion": self.group_version, "metadata": {}, "items": []}
        return listed(head, written)

    def _nodes(self, info: RequestInfo, labels: str, fields: str) -> list[Object]:
        known, selector, conditions = self._scraper.nodes, parse_labels(labels), parse_fields(fields)
        if info.name:
            node = known.get(info.name) if known is not None else None
            if node is None:
                raise errors.not_found("", "nodes", info.name)
            nodes = [node]
        else:
            nodes = (
                [node for node in known.select(selector) if _matches(node, conditions)]
                if known is not None
                else []
            )
        nodes.sort(key=lambda node: node["metadata"]["name"])
        return [
            self._sample(node, used, {"usage": _usage([used])})
            for node in nodes
            if (used := self._storage.node(node["metadata"]["name"])) is not None
        ]

    async def _pods(
        self, info: RequestInfo, labels: str, fields: str, write: Writer
    ) -> AsyncIterator[Iterator[bytes]]:
        """Ask the API server which pods there are, and where: no node may speak for those of another."""
        try:
            if info.name:
                pods = [await self._client.get(PODS, info.name, info.namespace)]
                yield (write(sample) for sample in self._samples(pods))
                return
            # Of 30,000 pods 250 are in memory at a time. They come by namespace and name.
            token = ""
            while True:
                page = await self._client.list_page(
                    PODS, info.namespace, labels=labels, fields=fields, limit=_PAGE, continue_token=token
                )
                yield (write(sample) for sample in self._samples(page.items))
                if not (token := page.continue_token):
                    return
        except NotFound:
            raise errors.not_found("", "pods", info.name) from None
        except errors.StatusError as error:
            if error.code == 400:
                raise
            raise errors.internal(f"failed listing pods: {error.message}") from None

    def _samples(self, pods: Iterable[Object]) -> Iterator[Object]:
        return (sample for pod in pods if (sample := self._pod(pod)) is not None)

    def _pod(self, pod: Object) -> Object | None:
        meta = pod["metadata"]
        used = self._storage.pod(pod["spec"].get("nodeName", ""), f"{meta['namespace']}/{meta['name']}")
        if used is None:
            return None
        containers = [{"name": name, "usage": _usage([figures])} for name, figures in used.containers]
        return self._sample(pod, used, {"containers": containers})

    def _sample(self, obj: Object, used: Usage | PodUsage, figures: Object) -> Object:
        meta, now = obj["metadata"], self._clock.now()
        self._metrics.freshness.observe(now - used.time)
        names = {key: meta[key] for key in ("name", "namespace", "labels") if meta.get(key)}
        return {
            "metadata": names | {"creationTimestamp": rfc3339.seconds(now)},
            "timestamp": rfc3339.seconds(used.time),
            "window": show_duration(round(used.window, 3)),
            **figures,
        }


def _writer(typed: Object, info: RequestInfo, request: Request) -> Writer:
    """Return what writes a sample as the request wants it: as a row, an object, or an item of a list."""
    if tables.wanted(request):
        return lambda item: orjson.dumps(tables.row({**typed, **item}, _cells(item), request))
    if info.name:
        return lambda item: orjson.dumps({**typed, **item})
    return orjson.dumps


def _usage(parts: Iterable[Usage]) -> Object:
    listed = list(parts)
    return {
        "cpu": cpu(sum(part.cpu for part in listed)),
        "memory": memory(sum(part.memory for part in listed)),
    }


def _cells(item: Object) -> list[Any]:
    usages = (
        [container["usage"] for container in item["containers"]] if "containers" in item else [item["usage"]]
    )
    cells = []
    for resource in ("cpu", "memory"):
        total = usages[0][resource]
        for used in usages[1:]:
            total = quantity.add(total, used[resource])
        cells.append(total)
    return [item["metadata"]["name"], *cells, item["window"]]


def _selectors(request: Request) -> tuple[str, str]:
    labels, fields = request.parameter("labelSelector"), request.parameter("fieldSelector")
    try:
        parse_labels(labels)
    except SelectorError as error:
        raise errors.bad_request(f"unable to parse requirement: {error}") from None
    try:
        parse_fields(fields)
    except SelectorError as error:
        raise errors.bad_request(str(error)) from None
    return labels, fields


def _matches(node: Object, conditions: list[tuple[str, str, bool]]) -> bool:
    values = {"metadata.name": node["metadata"]["name"]}
    return all((values.get(field, "") == value) is equal for field, value, equal in conditions)
