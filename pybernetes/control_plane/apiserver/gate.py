"""The gate in front of the endpoint: may they who ask? Who they are is found out in ``authn``."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from pybernetes.control_plane.apiserver.app import Step
from pybernetes.control_plane.apiserver.authz.chain import Chain
from pybernetes.control_plane.apiserver.authz.refusal import refused
from pybernetes.control_plane.apiserver.authz.verdict import Verdict
from pybernetes.control_plane.apiserver.http.messages import Request
from pybernetes.control_plane.apiserver.info import RequestInfo, attributes


def authorization(chain: Chain) -> Step:
    """The step that asks whether the user may."""

    def step(request: Request) -> Any:
        asked = attributes(request)
        verdict = chain.authorize(request.user, asked)
        if not isinstance(verdict, Verdict):
            return later(request, asked, verdict)
        if not verdict.allowed:
            raise refused(request.user, asked, verdict.reason)
        return None

    async def later(request: Request, asked: RequestInfo, waiting: Awaitable[Verdict]) -> None:
        verdict = await waiting
        if not verdict.allowed:
            raise refused(request.user, asked, verdict.reason)

    return step
