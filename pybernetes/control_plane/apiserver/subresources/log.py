"""log: what a container wrote."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.api.field import Errors
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import integer
from pybernetes.control_plane.apiserver.subresources import _streams
from pybernetes.lib.http.server_connection import Answer

_OPTIONS = (
    "follow",
    "previous",
    "sinceSeconds",
    "sinceTime",
    "timestamps",
    "tailLines",
    "limitBytes",
    "stream",
)


async def handle(context: ServerContext, request: Request, kind: Kind) -> Answer:
    """Stream a container's log from its node."""
    if request.request_info.verb != "get":
        raise errors.method_not_allowed()
    _check(request)
    pod = await _streams.scheduled_pod(context, request, kind)
    container = _streams.container_of(request, pod)
    meta = pod["metadata"]
    path = f"/containerLogs/{meta['namespace']}/{meta['name']}/{container}"
    return await _streams.connect(context, request, kind, pod, path, _streams.chosen(request, _OPTIONS))


def _check(request: Request) -> None:
    problems = Errors()
    for name, least in (("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1)):
        if name in request.query:
            value = integer(request.parameter(name))
            if value < least:
                word = "greater than or equal to 0" if least == 0 else "greater than 0"
                problems.invalid(name, value, f"must be {word}")
    if request.parameter("sinceSeconds") and request.parameter("sinceTime"):
        problems.forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified")
    if problems:
        raise errors.invalid("", "PodLogOptions", request.request_info.name, problems)
