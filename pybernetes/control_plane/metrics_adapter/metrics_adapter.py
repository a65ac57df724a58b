"""metrics-adapter, put together."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pybernetes.client.client import Client
from pybernetes.client.refs import BUILTIN
from pybernetes.control_plane.metrics_adapter.catalogue import Ages
from pybernetes.control_plane.metrics_adapter.config import Rule
from pybernetes.control_plane.metrics_adapter.custom_metrics import CustomMetrics
from pybernetes.control_plane.metrics_adapter.external_metrics import ExternalMetrics
from pybernetes.control_plane.metrics_adapter.prometheus_client import PrometheusClient
from pybernetes.control_plane.metrics_adapter.queries import GroupResource, Resources
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.aggregated_api.aggregated_server import AggregatedServer
from pybernetes.runtime.aggregated_api.api_group import ApiGroup
from pybernetes.runtime.component_server import Checks, Handler, metrics_page
from pybernetes.runtime.delegated_auth import DelegatedAuth


@dataclass(frozen=True)
class Options:
    """The rules, and how old a list of series may be."""

    rules: Sequence[Rule] = ()
    external_rules: Sequence[Rule] = ()
    ages: Ages = field(default_factory=Ages)
    pages: Mapping[str, Handler] = field(default_factory=dict)


class MetricsAdapter:
    """Serves until it is stopped; a group without rules is not served."""

    def __init__(
        self, client: Client, auth: DelegatedAuth, prometheus: PrometheusClient, options: Options
    ) -> None:
        self._prometheus = prometheus
        versions = {GroupResource(ref.group, ref.plural, ref.kind, ref.namespaced): ref for ref in BUILTIN}
        resources = Resources(list(versions))
        groups: list[ApiGroup] = []
        if options.rules:
            groups.append(CustomMetrics(client, prometheus, options.rules, resources, versions, options.ages))
        if options.external_rules:
            groups.append(ExternalMetrics(prometheus, options.external_rules, resources, options.ages))
        health = Checks()
        pages = {
            "/healthz": health.page,
            "/livez": health.page,
            "/readyz": health.page,
            "/metrics": metrics_page(Exposition.process),
        }
        self._server = AggregatedServer(groups, auth, {**pages, **options.pages})

    async def start(self, host: str, port: int, context: ssl.SSLContext) -> int:
        """Listen; return the port."""
        return await self._server.start(host, port, context)

    async def stop(self) -> None:
        """Stop listening."""
        await self._server.stop()
        self._prometheus.close()
