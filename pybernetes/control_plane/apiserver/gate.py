"""The gate in front of the endpoint: who is asking, and may they?"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pybernetes.api import errors, go
from pybernetes.control_plane.apiserver.app import Step
from pybernetes.control_plane.apiserver.authn.user import ANONYMOUS, MASTERS, User
from pybernetes.control_plane.apiserver.http.messages import Request
from pybernetes.control_plane.apiserver.info import RequestInfo

# Gives the user that a request proves to be, or None if it says nothing to this authenticator.
Authenticator = Callable[[Request], "User | Awaitable[User | None] | None"]
# Gives True to allow, False to deny, None for no opinion; or a text, which denies and tells why.
Authorizer = Callable[[User, RequestInfo], "bool | str | Awaitable[bool | str | None] | None"]
_PUBLIC = ("/healthz", "/livez", "/readyz", "/version")


def authentication(authenticators: Sequence[Authenticator], anonymous: bool) -> Step:
    """The step that finds out who is asking."""

    def step(request: Request) -> Any:
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


def masters(user: User, info: RequestInfo) -> bool | None:
    """Lets the cluster's own administrators do everything."""
    return True if MASTERS in user.groups else None


def always_allow(user: User, info: RequestInfo) -> bool:
    """Lets everybody do everything."""
    return True


def public_paths(user: User, info: RequestInfo) -> bool | None:
    """Lets everybody ask whether the server is well, and which version it is."""
    if info.is_resource or info.verb != "get":
        return None
    return (
        True if info.path in _PUBLIC or info.path.startswith(("/healthz/", "/livez/", "/readyz/")) else None
    )


def authorization(authorizers: Sequence[Authorizer]) -> Step:
    """The step that asks whether the user may; the first authorizer with an opinion decides."""

    def step(request: Request) -> Any:
        for position, authorizer in enumerate(authorizers):
            verdict = authorizer(request.user, request.info)
            if verdict is True:
                return None
            if verdict is None:
                continue
            if inspect.isawaitable(verdict):
                return later(request, verdict, position)
            raise refused(request.user, request.info, verdict if isinstance(verdict, str) else "")
        raise refused(request.user, request.info, "")

    async def later(request: Request, waiting: Awaitable[bool | str | None], position: int) -> None:
        verdict = await waiting
        for following in authorizers[position + 1 :]:
            if verdict is not None:
                break
            found = following(request.user, request.info)
            verdict = await found if inspect.isawaitable(found) else found
        if verdict is not True:
            raise refused(request.user, request.info, verdict if isinstance(verdict, str) else "")

    return step


def refused(user: User, info: RequestInfo, why: str) -> errors.StatusError:
    """The refusal in Kubernetes' words."""
    text = f"User {go.quote(user.name)} cannot {info.verb} "
    if not info.is_resource:
        text += f"path {go.quote(info.path)}"
        return errors.forbidden("", "", "", text + (f": {why}" if why else ""))
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    text += f"resource {go.quote(resource)} in API group {go.quote(info.group)}"
    text += f" in the namespace {go.quote(info.namespace)}" if info.namespace else " at the cluster scope"
    return errors.forbidden(info.group, info.resource, info.name, text + (f": {why}" if why else ""))
