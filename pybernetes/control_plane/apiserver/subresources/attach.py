"""attach: the streams of a container's own process."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.subresources.exec import run
from pybernetes.lib.http.server_connection import Answer


async def handle(context: ServerContext, request: Request, kind: Kind) -> Answer:
    """Attach a client to a container."""
    return await run(context, request, kind, "attach", need_command=False)
