"""observation: reads what a request asks for, and counts it when it is answered."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from types import CoroutineType

from pybernetes.api import errors
from pybernetes.control_plane.apiserver import request_info
from pybernetes.control_plane.apiserver.observability.metrics import Metrics
from pybernetes.control_plane.apiserver.pipeline.failures import failure
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, is_at_hand
from pybernetes.control_plane.apiserver.pipeline.steps.deadline import seconds_allowed
from pybernetes.control_plane.apiserver.request import LONGEST_AUDIT_ID, Request
from pybernetes.lib.http.messages import PartedResponse, Response
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.stream import Stream

_READS = frozenset(("get", "list", "watch"))


def observation(metrics: Metrics) -> Step:
    """Return the step that every request begins and ends with."""

    def count(request: Request, answer: Answer) -> Answer:
        """Count the request; a stream is counted when it opens."""
        info, kind = request.request_info, request.kind
        if info.is_resource and kind is not None:
            code = answer.status if isinstance(answer, (Response, Stream)) else 101
            scope = "resource" if info.name else "namespace" if info.namespace else "cluster"
            if type(answer) is Response:  # nearly all
                size = len(answer.body)
            else:
                size = answer.size if type(answer) is PartedResponse else 0
            seconds = time.monotonic() - request.started
            aside = request.set_aside
            if aside is None:
                metrics.observe(info.verb, kind.resource, info.subresource, scope, code, seconds, size)
            else:  # it began anew after its time in the queue
                whole = seconds + aside.queued
                metrics.observe(
                    info.verb, kind.resource, info.subresource, scope, code, whole, size, aside=aside.seconds
                )
        return answer

    async def in_flight(request: Request, waiting: Awaitable[Answer]) -> Answer:
        reads = request.request_info.verb in _READS
        gauge = metrics.in_flight_reads if reads else metrics.in_flight_writes
        gauge.value += 1
        try:
            answer = await waiting
        except Exception as error:
            answer = failure(error, request)
        finally:
            gauge.value -= 1
        return count(request, answer)

    def step(following: Handler) -> Handler:
        def checked(request: Request) -> Answer | Awaitable[Answer]:
            if len(request.headers.get(b"audit-id", b"")) > LONGEST_AUDIT_ID:
                raise errors.bad_request(f"the Audit-ID is longer than {LONGEST_AUDIT_ID} characters")
            if "timeout=" in request.query_text:
                seconds_allowed(request)  # one that makes no sense is refused even if nothing takes time
            return following(request)

        def handle(request: Request) -> Answer | Awaitable[Answer]:
            request.request_info = request_info.parse(request.method, request.path, _asks_watch(request))
            first = checked if request.query_text or b"audit-id" in request.headers else following
            try:
                answer = first(request)
            except Exception as error:
                answer = failure(error, request)
            # What most answers are is told here: a call for it would be one for each request.
            if type(answer) is Response or (type(answer) is not CoroutineType and is_at_hand(answer)):
                return count(request, answer)
            return in_flight(request, answer)

        return handle

    return step


def _asks_watch(request: Request) -> bool:
    if "watch" not in request.query_text:
        return False
    values = request.query.get("watch")
    return values is not None and values[0].lower() not in ("0", "false")
