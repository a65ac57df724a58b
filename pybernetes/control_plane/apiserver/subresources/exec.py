"""exec: a command in a container."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import boolean
from pybernetes.control_plane.apiserver.subresources import _streams
from pybernetes.lib.http.server_connection import Answer

# What the API calls the streams, and what the kubelet does.
STREAMS = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}


async def handle(context: ServerContext, request: Request, kind: Kind) -> Answer:
    """Run a command, its streams passed through to the client."""
    return await run(context, request, kind, "exec", need_command=True)


async def run(
    context: ServerContext, request: Request, kind: Kind, action: str, *, need_command: bool
) -> Answer:
    """Connect the streams of a client and a container, for exec and attach."""
    if request.request_info.verb not in ("get", "create"):
        raise errors.method_not_allowed()
    await _streams.require_create(context, request)
    pod = await _streams.scheduled_pod(context, request, kind)
    container = _streams.container_of(request, pod)
    query: dict[str, list[str]] = {}
    for name, kubelet_name in STREAMS.items():
        if boolean(request, name):
            query[kubelet_name] = ["1"]
    if not any(name in query for name in ("input", "output", "error")):
        raise errors.bad_request("you must specify at least 1 of stdin, stdout, stderr")
    if need_command:
        query["command"] = list(request.query.get("command", ()))
        if not query["command"]:
            raise errors.bad_request("you must specify at least one command for the container")
    meta = pod["metadata"]
    path = f"/{action}/{meta['namespace']}/{meta['name']}/{container}"
    return await _streams.connect(context, request, kind, pod, path, query)
