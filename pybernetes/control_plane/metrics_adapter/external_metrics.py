"""The API group external.metrics.k8s.io: figures that belong to no object of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pybernetes.api import errors
from pybernetes.api.request_info import RequestInfo
from pybernetes.api.resource import Object
from pybernetes.api.selectors import SelectorError, parse_labels
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


class ExternalMetrics(ApiGroup):
    """Metrics by name."""

    group, version, title = "external.metrics.k8s.io", "v1beta1", "Kubernetes metrics-adapter"

    def __init__(
        self, prometheus: PrometheusClient, rules: Sequence[Rule], resources: Resources, ages: Ages
    ) -> None:
        self._prometheus, self._resources = prometheus, resources

        def keys(rule: Rule, name: str, labels: dict[str, str]) -> Iterable[str]:
            return (name,)

        self._catalogue: Catalogue[str] = Catalogue(prometheus, rules, keys, ages)

    async def refresh(self) -> None:
        """Find out which metrics there are, if that is not known yet."""
        await self._catalogue.refresh()

    def resources(self) -> Sequence[ServedResource]:
        """Return every metric."""
        return [
            ServedResource(name, "ExternalMetricValueList", True, ("get",))
            for name in sorted(self._catalogue.metrics)
        ]

    async def answer(self, info: RequestInfo, request: Request) -> Object:
        """Return all figures of a metric that a selector chooses."""
        await self.refresh()
        metric, entry = info.resource, self._catalogue.metrics.get(info.resource)
        if entry is None or not info.namespace or info.name:
            raise errors.StatusError(
                404, "NotFound", f"the server could not find the external metric {metric}"
            )
        try:
            matchers = selector_matchers(parse_labels(request.parameter("labelSelector")))
        except (SelectorError, ValueError) as error:
            raise errors.bad_request(str(error)) from None
        label = self._resources.label_of(entry.rule, _NAMESPACE) if entry.rule.namespaced else None
        if label is not None:
            matchers.insert(0, matcher(label, [info.namespace]))
        samples = await self._prometheus.vector(query(entry.rule, entry.series, matchers, label or ""))
        items = [
            {
                "metricName": metric,
                "metricLabels": {name: value for name, value in sample.labels.items() if name != "__name__"},
                "timestamp": rfc3339.seconds(sample.time), "value": sample.quantity,
            }
            for sample in samples
        ]  # fmt: skip
        return {
            "kind": "ExternalMetricValueList",
            "apiVersion": self.group_version,
            "metadata": {},
            "items": items,
        }
