"""The gate in front of the endpoint: who is asking, and may they?"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.app import Step
from pybernetes.control_plane.apiserver.authn.user import ANONYMOUS, User
from pybernetes.control_plane.apiserver.authz.chain import Chain
from pybernetes.control_plane.apiserver.authz.refusal import refused
from pybernetes.control_plane.apiserver.authz.verdict import Verdict
from pybernetes.control_plane.apiserver.http.messages import Request
from pybernetes.control_plane.apiserver.info import RequestInfo, attributes

# Gives the user that a request proves to be, or None if it says nothing to this authenticator.
Authenticator = Callable[[Request], "User | Awaitable[User | None] | None"]


def authentication(authenticators: Sequence[Authenticator], anonymous: bool) -> Step:
    """The step that finds out who is asking."""

    def step(request: Request) -> Any:
        if request.user is not None:  # a caller in this process, vouched for by whoever put it together
            return None
        for position, authenticator in enumerate(authenticators):
            user = authenticator(request)
            if user is not None:
                if inspect.isawaitable(user):
                    return later(request, user, position)
                request.user = user
                return None
        return fallback(request)

    async def later(request: Request, waiting: Awaitable[User | None], position: int) -> Any:
        user = await waiting
        for following in authenticators[position + 1 :]:
            if user is not None:
                break
            found = following(request)
            user = await found if inspect.isawaitable(found) else found
        if user is None:
            return fallback(request)
        request.user = user
        return None

    def fallback(request: Request) -> None:
        # A token that nobody knows is refused; only a client that shows nothing at all is anonymous.
        if not anonymous or request.headers.get(b"authorization"):
            raise errors.unauthorized()
        request.user = ANONYMOUS

    return step


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
