"""tracing: a span for every request, which what is done for it belongs to. Only there if spans are asked for."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.control_plane.apiserver.observability.tracing import Tracer
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, at_hand
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.server_connection import Answer


def tracing(tracer: Tracer) -> Step:
    """Return the step that makes the spans of requests; it stands behind authentication, since it matters who asks."""

    async def traced(request: Request, following: Handler) -> Answer:
        with tracer.request(request) as span:
            answer = await at_hand(following(request))
            span.set_attribute("http.response.status_code", getattr(answer, "status", 200))
            return answer

    def step(following: Handler) -> Handler:
        def handle(request: Request) -> Awaitable[Answer]:
            return traced(request, following)

        return handle

    return step
