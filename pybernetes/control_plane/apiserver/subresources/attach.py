"""attach: the streams of a container's own process."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.http.connection import Answer
from pybernetes.control_plane.apiserver.kinds import Kind
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.subresources.exec import run


async def handle(api: Api, request: Request, kind: Kind) -> Answer:
    """Attaches a client to a container."""
    return await run(api, request, kind, "attach", need_command=False)
