"""authorization: whether the user may do what the request asks for."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.authz.authorization import Authorization
from pybernetes.control_plane.apiserver.authz.verdict import Verdict
from pybernetes.control_plane.apiserver.forbidden import forbidden
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, after
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo, attributes
from pybernetes.lib.http.server_connection import Answer

_DECISION, _REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"


def authorization(authorizers: Authorization) -> Step:
    """Return the step that refuses, with 403, what the user may not do."""

    def decide(request: Request, asked: RequestInfo, verdict: Verdict) -> None:
        if request.audit is not None:
            decision = "allow" if verdict.allowed else "forbid"
            request.audit.annotations |= {_DECISION: decision, _REASON: verdict.reason}
        if not verdict.allowed and verdict.problem:
            raise errors.internal(verdict.problem)
        if not verdict.allowed:
            raise forbidden(request.user, asked, verdict.reason)

    async def decide_later(request: Request, asked: RequestInfo, waiting: Awaitable[Verdict]) -> None:
        decide(request, asked, await waiting)

    def step(following: Handler) -> Handler:
        def handle(request: Request) -> Answer | Awaitable[Answer]:
            asked = attributes(request) if request.query_text else request.request_info
            verdict = authorizers.authorize(request.user, asked)
            if not isinstance(verdict, Verdict):
                return after(decide_later(request, asked, verdict), following, request)
            if not verdict.allowed or request.audit is not None:
                decide(request, asked, verdict)
            return following(request)

        return handle

    return step
