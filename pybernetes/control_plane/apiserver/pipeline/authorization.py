"""The gate in front of the endpoint: may they who ask? Who they are is found out in ``authn``."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from pybernetes.control_plane.apiserver.authz.authorization import Authorization
from pybernetes.control_plane.apiserver.authz.forbidden import forbidden
from pybernetes.control_plane.apiserver.authz.verdict import Verdict
from pybernetes.control_plane.apiserver.pipeline.pipeline import Step
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo, attributes

_DECISION, _REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"


def authorization(chain: Authorization) -> Step:
    """The step that asks whether the user may."""

    def step(request: Request) -> Any:
        asked = attributes(request)
        verdict = chain.authorize(request.user, asked)
        if not isinstance(verdict, Verdict):
            return later(request, asked, verdict)
        decide(request, asked, verdict)
        return None

    def decide(request: Request, asked: RequestInfo, verdict: Verdict) -> None:
        if request.audit is not None:
            decision = "allow" if verdict.allowed else "forbid"
            request.audit.annotations |= {_DECISION: decision, _REASON: verdict.reason}
        if not verdict.allowed:
            raise forbidden(request.user, asked, verdict.reason)

    async def later(request: Request, asked: RequestInfo, waiting: Awaitable[Verdict]) -> None:
        decide(request, asked, await waiting)

    return step
