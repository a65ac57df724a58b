"""The health-check ports of Services: load balancers ask there whether this node has a ready pod."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from pybernetes.lib.http.messages import Response
from pybernetes.node.proxy.health import Health
from pybernetes.node.proxy.service_state import ServiceState
from pybernetes.runtime.component_server import ComponentServer, Handler

log = logging.getLogger(__name__)


class _OnePageServer(ComponentServer):
    """Answers every path alike."""

    def __init__(self, page: Handler) -> None:
        super().__init__({})
        self._page = page

    def handler(self, path: str) -> Handler:
        """Return what answers for a path."""
        return self._page


class HealthCheckPorts:
    """A small server on each health-check port, which says how many ready pods of the Service this node has."""

    def __init__(self, health: Health, addresses: Callable[[], Awaitable[Iterable[str]]]) -> None:
        self._health, self._addresses = health, addresses
        self._servers: dict[str, tuple[int, list[ComponentServer]]] = {}
        self._counts: dict[str, int] = {}

    async def sync(self, changed: Iterable[str], states: Mapping[str, ServiceState]) -> None:
        """Open and close the ports of the Services that changed."""
        for service in changed:
            state = states.get(service)
            port = state.health_check_port if state is not None else 0
            self._counts[service] = state.local_ready if state is not None else 0
            current = self._servers.get(service)
            if current is not None and current[0] != port:
                await self._close(service)
                current = None
            if port and current is None:
                await self._open(service, port)
            if not port:
                self._counts.pop(service, None)

    async def _open(self, service: str, port: int) -> None:
        servers: list[ComponentServer] = []
        self._servers[service] = (port, servers)
        for address in await self._addresses():
            server = _OnePageServer(lambda request: self._page(service))
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
        """Close every port."""
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
