"""The one call shape of the steps of a request, and how they go on without waiting where nothing takes time.

Most reads are answered within one call, without a task or a coroutine: a handler gives its answer, or an awaitable of
one. ``is_at_hand`` tells the two apart.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from types import CoroutineType
from typing import TYPE_CHECKING

from pybernetes.control_plane.apiserver.pipeline.failures import failure
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer

if TYPE_CHECKING:
    from typing_extensions import TypeIs

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
    return answer if is_at_hand(answer) else await answer


def is_at_hand(answer: Answer | Awaitable[Answer]) -> TypeIs[Answer]:
    """Return whether an answer need not be waited for; the common ones are recognized by their types."""
    kind = type(answer)
    return kind is Response or (kind is not CoroutineType and not inspect.isawaitable(answer))


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
    if is_at_hand(answer):
        return close(request, answer, True)
    return _answered(answer, request, close, gone)


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
