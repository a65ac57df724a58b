"""Bearer tokens: where a request carries one, and who of those that know tokens knows it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Audiences,
    AuthenticatedToken,
    InvalidCredentials,
    TokenAuthenticator,
)
from pybernetes.control_plane.apiserver.authn.client_certificate import NO_CERTIFICATE
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.tokens import jose

_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored"
_INVALID = "invalid bearer token"
_PROTOCOL = b"base64url.bearer.authorization.k8s.io."


class RememberedToken(NamedTuple):
    """What a connection remembers of the last token: the header, its user, and whether that still holds."""

    header: bytes
    user: User
    holds: Callable[[], bool]


class BearerTokens:
    """Asks one authenticator after the other; the first that knows a token decides."""

    def __init__(self, authenticators: Sequence[TokenAuthenticator], audiences: Audiences) -> None:
        self._authenticators, self._audiences = tuple(authenticators), audiences

    # -- requests ----------------------------------------------------------------------------------------

    def authenticate(self, request: Request) -> User | Awaitable[User | None] | None:
        """Return the user of the token of a request, or None if it has none."""
        header = request.headers.get(b"authorization")
        if header is None:
            token = b""
        elif header.startswith(b"Bearer ") and header.count(b" ") == 1:
            token = header[7:]
        else:
            token = _from_header(header, request)
        if not token:
            token = _from_protocols(request) if b"sec-websocket-protocol" in request.headers else b""
            if not token:
                return None
        known = self._ask(token, self._audiences, self._authenticators, [])
        if isinstance(known, AuthenticatedToken):
            connection = request.connection
            # Certificates come before tokens, so only a connection without one may remember its token.
            if known.holds is not None and header is not None and connection.peer in (None, NO_CERTIFICATE):
                connection.credential = (
                    None if known.warnings else RememberedToken(header, known.user, known.holds)
                )
            return _accept(request, known)
        return self._later(request, known)

    async def _later(self, request: Request, waiting: Awaitable[AuthenticatedToken]) -> User:
        return _accept(request, await waiting)

    # -- tokens ------------------------------------------------------------------------------------------

    def find(self, token: bytes, audiences: Audiences) -> AuthenticatedToken | Awaitable[AuthenticatedToken]:
        """Return whose token it is; InvalidCredentials if nobody knows it."""
        return self._ask(token, audiences, self._authenticators, [])

    def _ask(
        self,
        token: bytes,
        audiences: Audiences,
        authenticators: tuple[TokenAuthenticator, ...],
        problems: list[str],
    ) -> AuthenticatedToken | Awaitable[AuthenticatedToken]:
        for authenticate in authenticators:
            try:
                known = authenticate(token, audiences)
            except InvalidCredentials as error:
                problems.append(str(error))
                continue
            if known is None:
                continue
            if isinstance(known, AuthenticatedToken):
                return known
            following = authenticators[authenticators.index(authenticate) + 1 :]
            return self._wait(token, audiences, following, problems, known)
        raise InvalidCredentials(f"[{', '.join([_INVALID, *problems])}]" if problems else _INVALID)

    async def _wait(
        self,
        token: bytes,
        audiences: Audiences,
        authenticators: tuple[TokenAuthenticator, ...],
        problems: list[str],
        waiting: Awaitable[AuthenticatedToken | None],
    ) -> AuthenticatedToken:
        try:
            known = await waiting
        except InvalidCredentials as error:
            problems.append(str(error))
            known = None
        if known is not None:
            return known
        answer = self._ask(token, audiences, authenticators, problems)
        return await answer if inspect.isawaitable(answer) else answer


def _accept(request: Request, known: AuthenticatedToken) -> User:
    """Take the token out of the request, so that nobody further on can use it."""
    request.headers.pop(b"authorization", None)
    for text in known.warnings:
        request.warn(text)
    return known.user


def _from_header(header: bytes, request: Request) -> bytes:
    parts = header.strip().split(b" ", 2)
    if len(parts) < 2 or parts[0].lower() != b"bearer":
        return b""
    if not parts[1] and len(parts) == 3:
        request.warn(_SPACE)
    return parts[1]


def _from_protocols(request: Request) -> bytes:
    """Return the token that a browser, which cannot set headers of a WebSocket, hides among the protocols."""
    if (
        request.header(b"upgrade").lower() != "websocket"
        or "upgrade" not in request.header(b"connection").lower()
    ):
        return b""
    offered = [item.strip() for item in request.headers[b"sec-websocket-protocol"].split(b",")]
    hidden = [item for item in offered if item.startswith(_PROTOCOL)]
    if not hidden:
        return b""
    if len(hidden) > 1:
        raise InvalidCredentials("multiple base64.bearer.authorization tokens specified")
    others = [item for item in offered if item not in hidden]
    try:
        token = jose.decode(hidden[0][len(_PROTOCOL) :])
        token.decode()
    except ValueError:
        raise InvalidCredentials("invalid base64.bearer.authorization token encoding") from None
    if not others:
        raise InvalidCredentials("missing additional subprotocol")
    request.headers[b"sec-websocket-protocol"] = b",".join(others)
    return token
