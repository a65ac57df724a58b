"""The one call shape of the steps of a request, and how they go on without waiting where nothing takes time.

Most reads are answered within one call, without a task or a coroutine: a handler gives its answer, or an awaitable of
one. ``after`` and ``answered`` are the only places that tell the two apart on the way of a request.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeGuard, cast

from pybernetes.control_plane.apiserver.pipeline.failures import failure
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer

Handler = Callable[[Request], "Answer | Awaitable[Answer]"]
Step = Callable[[Handler], Handler]
# Gets the request, its answer, and whether that came within one call.
Close = Callable[[Request, Answer, bool], "Answer | Awaitable[Answer]"]


def chain(steps: Sequence[Step], last: Handler) -> Handler:
    """Return the handler that goes through the steps, first to last, and ends with ``last``."""
    for step in reversed(steps):
        last = step(last)
    return last


def after(
    waiting: Awaitable[None] | None, following: Handler, request: Request
) -> Answer | Awaitable[Answer]:
    """Go on with what follows, at once if there is nothing to wait for."""
    return following(request) if waiting is None else _after(waiting, following, request)


async def _after(waiting: Awaitable[None], following: Handler, request: Request) -> Answer:
    await waiting
    return await at_hand(following(request))


async def at_hand(answer: Answer | Awaitable[Answer]) -> Answer:
    """Wait for an answer if need be."""
    return await answer if is_awaitable(answer) else cast(Answer, answer)


def is_awaitable(answer: Answer | Awaitable[Answer]) -> TypeGuard[Awaitable[Answer]]:
    """Tell whether an answer is yet to come; the common kind is recognized by its type, which costs nothing."""
    return type(answer) is not Response and inspect.isawaitable(answer)


def answered(
    following: Handler, request: Request, close: Close, gone: Callable[[Request], None] | None = None
) -> Answer | Awaitable[Answer]:
    """Call what follows, turn an error into its answer, and return what ``close`` makes of the answer.

    ``gone`` is called instead if the client goes away first.
    """
    try:
        answer = following(request)
    except Exception as error:
        return close(request, failure(error, request), True)
    if is_awaitable(answer):
        return _answered(answer, request, close, gone)
    return close(request, cast(Answer, answer), True)


async def _answered(
    waiting: Awaitable[Answer], request: Request, close: Close, gone: Callable[[Request], None] | None
) -> Answer:
    try:
        answer = await waiting
    except asyncio.CancelledError:
        if gone is not None:
            gone(request)
        raise
    except Exception as error:
        answer = failure(error, request)
    return await at_hand(close(request, answer, False))
