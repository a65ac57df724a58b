"""The way of a request: a chain of steps, each of which may answer, then the verb.

A step is a function of the request that gives None to go on, an answer to stop, or an awaitable of
either. Errors become answers here and nowhere else.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.control_plane.apiserver import request_info
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.observability.metrics import Metrics
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.store.protocol import StoreError
from pybernetes.lib.flags import duration
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.stream import Stream

log = logging.getLogger(__name__)
Step = Callable[[Request], Any]
_REQUEST_SECONDS = 60.0
_REASONS = {400: "BadRequest", 413: "RequestEntityTooLarge"}


class Pipeline:
    """The steps of a chain and the endpoint behind them."""

    def __init__(self, steps: Sequence[Step], endpoint: Step, metrics: Metrics) -> None:
        self._steps = tuple(steps)
        self._endpoint = endpoint
        self._metrics = metrics

    def __call__(self, request: Request) -> Answer | Awaitable[Answer]:
        request.request_info = request_info.parse(request.method, request.path, _asks_watch(request))
        try:
            if "timeout=" in request.query_text:
                _seconds(request)  # one that makes no sense is refused even if nothing takes time
            for position, step in enumerate(self._steps):
                result = step(request)
                if result is not None:
                    if inspect.isawaitable(result):
                        return self._later(request, result, position)
                    return self._done(request, result)
            result = self._endpoint(request)
            if inspect.isawaitable(result):
                return self._later(request, result, len(self._steps))
            return self._done(request, result)
        except Exception as error:
            return self._done(request, failure(error, request))

    async def _later(self, request: Request, awaitable: Awaitable[Any], position: int) -> Answer:
        """Goes on with a request one of whose steps takes time."""
        verb = request.request_info.verb
        gauge = self._metrics.in_flight_reads if verb in _READS else self._metrics.in_flight_writes
        gauge.value += 1
        try:
            async with asyncio.timeout(_seconds(request)):
                result = await awaitable
                for following, step in enumerate((*self._steps, self._endpoint)):
                    if following <= position or result is not None:
                        continue
                    result = step(request)
                    if inspect.isawaitable(result):
                        result = await result
            return self._done(request, result, at_once=False)
        except asyncio.CancelledError:
            if request.ticket is not None:  # the client has gone
                request.ticket.level.abandon(request.ticket)
            raise
        except TimeoutError:
            text = "request did not complete within requested timeout - context deadline exceeded"
            return self._done(request, failure(errors.timeout(text), request), at_once=False)
        except Exception as error:
            return self._done(request, failure(error, request), at_once=False)
        finally:
            gauge.value -= 1

    def _done(self, request: Request, answer: Any, *, at_once: bool = True) -> Answer:
        """Counts the request and gives its seat to the next. A stream is counted when it opens."""
        details = request.request_info
        ticket = request.ticket
        if ticket is not None:
            request.ticket = None
            ticket.level.finish(ticket, time.monotonic() - request.started, at_once=at_once)
        state = request.kind
        if details.is_resource and state is not None:
            code = answer.status if isinstance(answer, (Response, Stream)) else 101
            scope = "resource" if details.name else "namespace" if details.namespace else "cluster"
            size = len(answer.body) if type(answer) is Response else 0
            seconds = time.monotonic() - request.started
            self._metrics.observe(
                details.verb, state.resource, details.subresource, scope, code, seconds, size
            )
        return answer


_TOO_DEEP = "Recursion limit reached"  # how the JSON library says it
_READS = frozenset(("get", "list", "watch"))
_LONG = frozenset(("log", "exec", "attach", "portforward", "proxy"))


def _seconds(request: Request) -> float | None:
    """How long a request may take: as long as any, less if the client says so; a stream as long as it likes."""
    if request.request_info.verb in ("watch", "connect") or request.request_info.subresource in _LONG:
        return None
    text = request.parameter("timeout") if "timeout=" in request.query_text else ""
    try:
        wanted = duration(text) if text else 0
    except ValueError:
        raise errors.bad_request("invalid timeout specified in the request URL") from None
    return wanted if 0 < wanted < _REQUEST_SECONDS else _REQUEST_SECONDS


def _asks_watch(request: Request) -> bool:
    if "watch" not in request.query_text:
        return False
    values = request.query.get("watch")
    return values is not None and values[0].lower() not in ("0", "false")


def failure(error: Exception, request: Request) -> Response:
    """The answer to an error: a Status, never a traceback, in the form that the client reads."""
    if not isinstance(error, errors.StatusError):
        if isinstance(error, StoreError):
            error = errors.unavailable(f"storage is (re)initializing or unreachable: {error}")
        elif isinstance(error, RecursionError) or _TOO_DEEP in str(error):
            error = errors.bad_request("the object is nested too deeply")
        else:
            log.error("a request failed", exc_info=error)
            error = errors.internal(f"{type(error).__name__}: {error}")
    body = error.body()
    token = getattr(error, "continue_token", None)
    if token:
        body["metadata"]["continue"] = token
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if error.retry_after:
        headers = ((b"Retry-After", str(error.retry_after).encode()),)
    if error.code == 403:
        headers = ((b"X-Content-Type-Options", b"nosniff"),)
    form = negotiation.for_errors(request)
    return Response(negotiation.encode(body, form), error.code, form.media.encode(), headers)


def refusal(status: int, message: str) -> Response:
    """Return the Status of a request that could not be read at all."""
    error = (
        errors.too_large(message)
        if status == 413
        else errors.StatusError(status, _REASONS.get(status, ""), message)
    )
    return Response(orjson.dumps(error.body()), status)
