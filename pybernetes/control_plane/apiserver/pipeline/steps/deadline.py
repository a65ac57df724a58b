"""deadline: no request takes longer than a minute, unless it is one that goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from types import CoroutineType

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, is_at_hand
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.event_loop.deadlines import Deadlines
from pybernetes.lib.flags import duration
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer

_REQUEST_SECONDS = 60.0


def deadline(longest: float = _REQUEST_SECONDS) -> Step:
    """Return the step that gives up on what takes too long."""

    deadlines = Deadlines(longest)

    async def limited(request: Request, waiting: Awaitable[Answer]) -> Answer:
        # Nearly all requests have as long as any.
        seconds: float | None = longest
        if request.query_text or request.request_info.long_running:
            seconds = seconds_allowed(request, longest)
        try:
            if seconds == longest:
                with deadlines():
                    return await waiting
            async with asyncio.timeout(seconds):
                return await waiting
        except TimeoutError:
            text = "request did not complete within requested timeout - context deadline exceeded"
            raise errors.timeout(text) from None

    def step(following: Handler) -> Handler:
        def handle(request: Request) -> Answer | Awaitable[Answer]:
            answer = following(request)
            # What most answers are is told here: a call for it would be one for each request.
            if type(answer) is Response or (type(answer) is not CoroutineType and is_at_hand(answer)):
                return answer
            return limited(request, answer)

        return handle

    return step


def seconds_allowed(request: Request, longest: float = _REQUEST_SECONDS) -> float | None:
    """Return how long a request may take: less if the client says so; None for one that goes on."""
    if request.request_info.long_running:
        return None
    text = request.parameter("timeout") if "timeout=" in request.query_text else ""
    try:
        wanted = duration(text) if text else 0
    except ValueError:
        raise errors.bad_request("invalid timeout specified in the request URL") from None
    return wanted if 0 < wanted < longest else longest
