"""metrics-server, put together."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from pybernetes.api.selectors import EVERYTHING, Selector
from pybernetes.client.client import Client
from pybernetes.client.request_metrics import REQUESTS
from pybernetes.control_plane.metrics_server.kubelet_client import KubeletAccess, KubeletClient
from pybernetes.control_plane.metrics_server.own_metrics import OwnMetrics
from pybernetes.control_plane.metrics_server.resource_metrics import ResourceMetrics
from pybernetes.control_plane.metrics_server.scraper import Scraper
from pybernetes.control_plane.metrics_server.storage import Storage
from pybernetes.lib.clock import Clock
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.aggregated_api.aggregated_server import AggregatedServer
from pybernetes.runtime.component_server import Checks, Handler, metrics_page
from pybernetes.runtime.delegated_auth import DelegatedAuth


@dataclass(frozen=True)
class Options:
    """How often kubelets are asked, which, and how they are reached."""

    kubelets: KubeletAccess
    resolution: float = 60.0
    selector: Selector = EVERYTHING
    pages: Mapping[str, Handler] = field(default_factory=dict)


class MetricsServer:
    """Serves until it is stopped."""

    def __init__(
        self, client: Client, auth: DelegatedAuth, options: Options, clock: Clock | None = None
    ) -> None:
        clock = clock or Clock()
        self.storage, self.metrics = Storage(options.resolution), OwnMetrics(options.resolution)
        self.scraper = Scraper(
            client, KubeletClient(options.kubelets), self.storage, self.metrics,
            resolution=options.resolution, selector=options.selector, clock=clock,
        )  # fmt: skip
        group = ResourceMetrics(client, self.scraper, self.storage, self.metrics, clock)
        health, live, ready = Checks(), Checks(), Checks()
        ready.add("metric-storage-ready", self.scraper.check_storage)
        ready.add("metric-informer-sync", self.scraper.check_informer)
        live.add("metric-collection-timely", self.scraper.check_timely)
        pages = {
            "/healthz": health.page, "/livez": live.page, "/readyz": ready.page, "/metrics": metrics_page(self._write),
            **options.pages,
        }  # fmt: skip
        self._server = AggregatedServer([group], auth, pages)

    def _write(self, text: Exposition) -> None:
        self.metrics.write(text, self.storage)
        REQUESTS.write(text)
        text.process()

    async def start(self, host: str, port: int, context: ssl.SSLContext) -> int:
        """Listen; return the port."""
        return await self._server.start(host, port, context)

    async def stop(self) -> None:
        """Stop listening and asking."""
        await self._server.stop()
        with contextlib.suppress(asyncio.CancelledError):
            await self.scraper.stop()
