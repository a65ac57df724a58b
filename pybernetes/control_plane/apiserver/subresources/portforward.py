"""portforward: connections to a pod's ports."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.subresources import _streams
from pybernetes.lib.http.server_connection import Answer


async def handle(context: ServerContext, request: Request, kind: Kind) -> Answer:
    """Open a connection over which ports are forwarded."""
    if request.request_info.verb not in ("get", "create"):
        raise errors.method_not_allowed()
    await _streams.require_create(context, request)
    pod = await _streams.scheduled_pod(context, request, kind)
    meta = pod["metadata"]
    path = f"/portForward/{meta['namespace']}/{meta['name']}"
    return await _streams.connect(
        context, request, kind, pod, path, _streams.chosen(request, ("ports", "port"))
    )
