"""componentstatuses: asks the other parts of the control plane how they are, when someone wants to know."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache

import orjson

from pybernetes.api import errors
from pybernetes.api.core.componentstatus import component_status
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.store.protocol import Record, StoreError
from pybernetes.lib.http.client import HttpClient, Peer, RequestFailed
from pybernetes.lib.http.messages import Response
from pybernetes.lib.tls import tls

_PORTS = {"scheduler": 10259, "controller-manager": 10257}
_STORE = "etcd-0"
_SECONDS = 5.0
_MOST_BYTES = 64 * 1024


async def handle(api: ServerContext, request: Request, kind: Kind) -> Response:
    """Answer with one component, or all of them."""
    form, name = negotiation.representation(request), request.request_info.name
    include = request.parameter("includeObject") or "Metadata"
    if request.request_info.verb == "get":
        if name != _STORE and name not in _PORTS:
            raise errors.not_found("", "componentstatus", name)
        return rendering.render(kind, await _ask(api, name), form, api.clock(), include)
    statuses = await asyncio.gather(*(_ask(api, component) for component in (*_PORTS, _STORE)))
    records = [Record(status["metadata"]["name"], orjson.dumps(status), 0) for status in statuses]
    body = rendering.listing(kind, records, {}, form, api.clock(), include)
    return Response(body, 200, rendering.content_type(form))


async def _ask(api: ServerContext, name: str) -> Object:
    if name == _STORE:
        try:
            await api.store.health()
        except StoreError as error:
            return component_status(name, False, str(error))
        return component_status(name, True, "ok")
    healthy, message = await _probe(api.nodes.components, _PORTS[name])
    return component_status(name, healthy, message)


@cache
def _context() -> ssl.SSLContext:
    """Return the TLS of all questions: to read the system's authorities for each would hold the server, for nothing."""
    return tls.client_context(verify=False)


async def _probe(host: str, port: int) -> tuple[bool, str]:
    """Ask a component on this machine for its health; nobody can stand in for it, so its name is not checked."""
    client, peer = HttpClient(most_bytes=_MOST_BYTES), Peer(host, port, _context())
    try:
        reply = await client.send(peer, "GET", "/healthz", b"", {}, _SECONDS)
    except RequestFailed as error:
        return False, f'Get "https://{peer.address}/healthz": {error}'
    finally:
        client.close()
    return reply.status == 200, bytes(reply.body).decode(errors="replace").strip()
