"""Whether kube-proxy keeps up (``/healthz``, ``/livez``), and the health-check ports of Services with local traffic."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from pybernetes.lib.clock import Clock
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.rfc3339 import micro
from pybernetes.node.proxy.service_port import ServiceState
from pybernetes.runtime.component_server import ComponentServer, Handler

log = logging.getLogger(__name__)
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"


class Health:
    """Remembers when rules were last written, and since when something waits to be."""

    def __init__(self, clock: Clock, timeout: float) -> None:
        self._clock, self._timeout = clock, timeout
        self._pending: float | None = None
        self._updated = clock.now()
        self.node: dict[str, Any] | None = None
        self.answers: dict[tuple[str, int], int] = {}

    def queued(self) -> None:
        """Something is to be written."""
        if self._pending is None:
            self._pending = self._clock.monotonic()

    def updated(self) -> None:
        """Everything is written."""
        self._pending, self._updated = None, self._clock.now()

    @property
    def healthy(self) -> bool:
        """Whether nothing has waited for too long."""
        return self._pending is None or self._clock.monotonic() - self._pending < self._timeout

    @property
    def eligible(self) -> bool:
        """Whether load balancers may send traffic to this node."""
        if self.node is None or self.node["metadata"].get("deletionTimestamp"):
            return False
        taints = (self.node.get("spec") or {}).get("taints") or ()
        return all(each.get("key") != TO_BE_DELETED for each in taints)

    def page(self, request: Request) -> Response:
        """The answer of ``/healthz`` and ``/livez``; only the former looks at the node."""
        name = request.path.strip("/")
        good = self.healthy and (name == "livez" or self.eligible)
        status = 200 if good else 503
        self.answers[name, status] = self.answers.get((name, status), 0) + 1
        now = self._clock.now()
        body: dict[str, Any] = {
            "lastUpdated": micro(now if good else self._updated),
            "currentTime": micro(now),
            "healthy": self.healthy,
            "status": {"IPv4": {"lastUpdated": micro(self._updated), "healthy": self.healthy}},
        }
        if name == "healthz":
            body["nodeEligible"] = self.eligible
        return Response(json.dumps(body).encode(), status)


class _OnePage(ComponentServer):
    """Answers every path alike."""

    def __init__(self, page: Handler) -> None:
        super().__init__({})
        self._page = page

    def handler(self, path: str) -> Handler:
        """Return what answers for a path."""
        return self._page


class HealthCheckPorts:
    """A small server on each health-check port, which says how many ready pods this node has."""

    def __init__(self, health: Health, addresses: Callable[[], Awaitable[Iterable[str]]]) -> None:
        self._health, self._addresses = health, addresses
        self._servers: dict[str, tuple[int, list[ComponentServer]]] = {}
        self._counts: dict[str, int] = {}

    async def sync(self, changed: Iterable[str], views: Mapping[str, ServiceState]) -> None:
        """Opens and closes ports for the Services that changed."""
        for service in changed:
            view = views.get(service)
            port = view.health_check_port if view is not None else 0
            self._counts[service] = view.local_ready if view is not None else 0
            held = self._servers.get(service)
            if held is not None and held[0] != port:
                await self._close(service)
                held = None
            if port and held is None:
                await self._open(service, port)
            if not port:
                self._counts.pop(service, None)

    async def _open(self, service: str, port: int) -> None:
        servers: list[ComponentServer] = []
        self._servers[service] = (port, servers)
        for address in await self._addresses():
            server = _OnePage(lambda request: self._page(service))
            try:
                await server.start(address, port)
            except OSError as error:
                log.error("the health check of %s on port %d does not start: %s", service, port, error)
            else:
                servers.append(server)

    async def _close(self, service: str) -> None:
        for server in self._servers.pop(service)[1]:
            await server.stop()

    async def stop(self) -> None:
        """Closes every port."""
        for service in list(self._servers):
            await self._close(service)

    def _page(self, service: str) -> Response:
        namespace, _, name = service.partition("/")
        count, healthy = self._counts.get(service, 0), self._health.healthy
        body = {
            "service": {"namespace": namespace, "name": name},
            "localEndpoints": count,
            "serviceProxyHealthy": healthy,
        }
        status = 200 if count and healthy else 503
        weight = (b"X-Load-Balancing-Endpoint-Weight", str(count).encode())
        return Response(json.dumps(body, indent=1).encode(), status, headers=(weight,))
