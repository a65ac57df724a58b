"""The API group custom.metrics.k8s.io: figures of objects of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pybernetes.api import errors
from pybernetes.api.request_info import RequestInfo
from pybernetes.api.resource import Object
from pybernetes.api.selectors import Selector, SelectorError, parse_labels
from pybernetes.client.client import Client
from pybernetes.client.refs import Ref
from pybernetes.control_plane.metrics_adapter.catalogue import Ages, Catalogue
from pybernetes.control_plane.metrics_adapter.config import Rule
from pybernetes.control_plane.metrics_adapter.prometheus_client import PrometheusClient
from pybernetes.control_plane.metrics_adapter.queries import (
    GroupResource,
    Resources,
    matcher,
    query,
    selector_matchers,
)
from pybernetes.lib import rfc3339
from pybernetes.lib.http.messages import Request
from pybernetes.runtime.aggregated_api.api_group import ApiGroup, ServedResource

_NAMESPACE = GroupResource("", "namespaces", "Namespace", False)
_MOST_NAMES = 5000


class CustomMetrics(ApiGroup):
    """Metrics by the resource that they are of, and their name."""

    group, version, title = "custom.metrics.k8s.io", "v1beta2", "Kubernetes metrics-adapter"

    def __init__(
        self, client: Client, prometheus: PrometheusClient, rules: Sequence[Rule], resources: Resources,
        versions: dict[GroupResource, Ref], ages: Ages,
    ) -> None:  # fmt: skip
        self._client, self._prometheus, self._resources, self._versions = (
            client,
            prometheus,
            resources,
            versions,
        )
        self._catalogue: Catalogue[tuple[GroupResource, str]] = Catalogue(prometheus, rules, self._keys, ages)

    def _keys(self, rule: Rule, name: str, labels: dict[str, str]) -> Iterable[tuple[GroupResource, str]]:
        resources = self._resources.of_series(rule, labels)
        # What is in a namespace can only be asked for if the series tells which.
        return [
            (resource, name) for resource in resources if not resource.namespaced or _NAMESPACE in resources
        ]  # fmt: skip

    async def refresh(self) -> None:
        """Find out which metrics there are, if that is not known yet."""
        await self._catalogue.refresh()

    def resources(self) -> Sequence[ServedResource]:
        """Return every metric of every resource."""
        return [
            ServedResource(f"{resource}/{name}", "MetricValueList", resource.namespaced, ("get",))
            for resource, name in sorted(self._catalogue.metrics, key=str)
        ]

    async def answer(self, info: RequestInfo, request: Request) -> Object:
        """Return a metric of one object, or of all that a selector chooses."""
        await self.refresh()
        if info.resource == "metrics" and info.namespace and info.name:
            resource, name, metric, namespace = _NAMESPACE, info.namespace, info.name, ""
        else:
            plural, _, group = info.resource.partition(".")
            known = self._resources.find(group, plural)
            if known is None or not info.name or not info.subresource:
                raise errors.no_such_resource()
            resource, name, metric, namespace = known, info.name, info.subresource, info.namespace
        entry = self._catalogue.metrics.get((resource, metric))
        label = self._resources.label_of(entry.rule, resource) if entry is not None else None
        if entry is None or label is None or resource.namespaced is not bool(namespace):
            text = f"the server could not find the metric {metric} for {resource}"
            raise errors.StatusError(404, "NotFound", f"{text} {name}" if name != "*" else text)
        names = await self._names(resource, namespace, request) if name == "*" else [name]
        items = await self._values(
            entry.rule, entry.series, resource, label, namespace, names, metric, request
        )
        if name != "*" and not items:
            raise errors.StatusError(
                404, "NotFound", f"the server could not find the metric {metric} for {resource} {name}"
            )
        return {"kind": "MetricValueList", "apiVersion": self.group_version, "metadata": {}, "items": items}

    async def _names(self, resource: GroupResource, namespace: str, request: Request) -> list[str]:
        """Return the objects that a selector chooses."""
        selector = request.parameter("labelSelector")
        _parsed(selector)
        listed = await self._client.list(
            self._versions[resource], namespace, labels=selector, metadata_only=True
        )
        if len(listed.items) > _MOST_NAMES:
            raise errors.bad_request(f"the selector chooses more than {_MOST_NAMES} objects")
        return [item["metadata"]["name"] for item in listed.items]

    async def _values(
        self, rule: Rule, series: str, resource: GroupResource, label: str, namespace: str, names: Sequence[str],
        metric: str, request: Request,
    ) -> list[Object]:  # fmt: skip
        if not names:
            return []
        text = request.parameter("metricLabelSelector")
        matchers = [matcher(label, names)]
        if namespace:
            within = self._resources.label_of(rule, _NAMESPACE)
            if within is None:
                raise errors.internal(f"the rule of {metric} has no label for namespaces")
            matchers.insert(0, matcher(within, [namespace]))
        try:
            matchers += selector_matchers(_parsed(text))
        except ValueError as error:
            raise errors.bad_request(str(error)) from None
        samples = await self._prometheus.vector(query(rule, series, matchers, label))
        wanted, identifier = set(names), {"name": metric, "selector": None}
        described = {"kind": resource.kind, "apiVersion": self._versions[resource].api_version}
        if namespace:
            described["namespace"] = namespace
        return [
            {
                "describedObject": {**described, "name": sample.labels[label]}, "metric": identifier,
                "timestamp": rfc3339.seconds(sample.time), "value": sample.quantity,
            }
            for sample in samples if sample.labels.get(label) in wanted
        ]  # fmt: skip


def _parsed(text: str) -> Selector:
    try:
        return parse_labels(text)
    except SelectorError as error:
        raise errors.bad_request(str(error)) from None
