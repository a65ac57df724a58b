"""Finds out who sends a request: the authenticators that are switched on, asked in their order."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.authn.authenticator import (
    Audiences,
    InvalidCredentials,
    RequestAuthenticator,
)
from pybernetes.control_plane.apiserver.authn.bearer_tokens import BearerTokens, RememberedToken
from pybernetes.control_plane.apiserver.authn.user import ANONYMOUS, User
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.messages import Response

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.authn.jwt.jwt_authenticators import JwtAuthenticators
    from pybernetes.control_plane.apiserver.authn.service_accounts.settings import ServiceAccounts

log = logging.getLogger(__name__)


class Authentication:
    """The first authenticator that knows the client decides.

    A client that shows credentials which one authenticator knows to be bad, and no other knows, is refused; one that
    shows none is anonymous.
    """

    def __init__(
        self,
        authenticators: Sequence[RequestAuthenticator] = (),
        bearer: BearerTokens | None = None,
        *,
        anonymous: bool = True,
        anonymous_paths: frozenset[str] = frozenset(),
        jwt: JwtAuthenticators | None = None,
        audiences: Audiences = (),
        accounts: ServiceAccounts | None = None,
        on_start: Sequence[Callable[[], None]] = (),
        private: Callable[[bytes], bool] | None = None,
    ) -> None:
        self.bearer = bearer or BearerTokens((), audiences)
        self.audiences, self.accounts = audiences, accounts
        self._authenticators = (*authenticators, self.bearer.authenticate)
        self._anonymous, self._anonymous_paths = anonymous, anonymous_paths
        self.jwt = jwt
        self._on_start, self._private = on_start, private
        # Answers to paths of its own, for those who check our tokens elsewhere.
        self.documents: dict[str, Response] = {}

    def start(self) -> None:
        """Let the authenticators read what they need from the store."""
        for start in self._on_start:
            start()

    def authenticate(self, request: Request) -> Awaitable[None] | None:
        """Put the user into the request, at once or when the awaitable is done; 401 if nobody knows the client."""
        if request.user is not None:  # a caller in this process, vouched for by whoever put it together
            return None
        # Clients send the same token in request after request. The connection remembers it only if nothing that comes
        # before tokens applies.
        last: RememberedToken | None = request.connection.credential
        if last is not None and request.headers.get(b"authorization") == last.header and last.holds():
            del request.headers[b"authorization"]
            if self._private is None:
                request.user = last.user  # what nearly all requests come to
            else:
                self._enter(request, last.user)
            return None
        return self._ask(request, self._authenticators, [])

    def _ask(
        self,
        request: Request,
        authenticators: tuple[RequestAuthenticator, ...],
        problems: list[InvalidCredentials],
    ) -> Awaitable[None] | None:
        for authenticate in authenticators:
            try:
                user = authenticate(request)
            except InvalidCredentials as problem:
                problems.append(problem)
                continue
            if user is None:
                continue
            if isinstance(user, User):
                self._enter(request, user)
                return None
            following = authenticators[authenticators.index(authenticate) + 1 :]
            return self._wait(request, following, problems, user)
        if problems or not self._anonymous or not self._may_be_anonymous(request):
            if problems:
                log.info("unable to authenticate the request: %s", ", ".join(map(str, problems)))
            raise errors.unauthorized()
        self._enter(request, ANONYMOUS)
        return None

    def _may_be_anonymous(self, request: Request) -> bool:
        return not self._anonymous_paths or request.path in self._anonymous_paths

    def _enter(self, request: Request, user: User) -> None:
        request.user = user
        if self._private is not None:  # headers that name users mean nothing from here on
            for name in list(filter(self._private, request.headers)):
                del request.headers[name]

    async def _wait(
        self,
        request: Request,
        authenticators: tuple[RequestAuthenticator, ...],
        problems: list[InvalidCredentials],
        waiting: Awaitable[User | None],
    ) -> None:
        try:
            user = await waiting
        except InvalidCredentials as problem:
            problems.append(problem)
            user = None
        if user is not None:
            self._enter(request, user)
            return
        following = self._ask(request, authenticators, problems)
        if following is not None:
            await following
