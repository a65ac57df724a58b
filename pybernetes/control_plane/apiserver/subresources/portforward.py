"""portforward: connections to a pod's ports."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.http.connection import Answer
from pybernetes.control_plane.apiserver.kinds import Kind
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.subresources import _streams


async def handle(api: Api, request: Request, kind: Kind) -> Answer:
    """Opens a connection over which ports are forwarded."""
    if request.info.verb not in ("get", "create"):
        raise errors.method_not_allowed()
    await _streams.require_create(api, request)
    pod = await _streams.scheduled_pod(api, request, kind)
    meta = pod["metadata"]
    path = f"/portForward/{meta['namespace']}/{meta['name']}"
    return await _streams.connect(api, request, kind, pod, path, _streams.chosen(request, ("ports", "port")))
