"""What an authenticator declares. Each is a file in ``authenticators`` with one ``AUTHENTICATOR``."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.authn.jwt.jwt_authenticators import JwtAuthenticators
    from pybernetes.control_plane.apiserver.authn.service_accounts.settings import ServiceAccounts
    from pybernetes.control_plane.apiserver.context import ServerContext
    from pybernetes.lib.tls.serving_certificates import CABundle

Audiences = tuple[str, ...]


class InvalidCredentials(Exception):
    """Credentials that one authenticator knows to be bad; another may still know the client. Never holds them."""


class AuthenticatedToken(NamedTuple):
    """Whose token it is, which of the audiences it is meant for, and what its bearer should be told.

    ``holds`` says whether this is still so; without it the token has to be looked at every time.
    """

    user: User
    audiences: Audiences
    warnings: tuple[str, ...] = ()
    holds: Callable[[], bool] | None = None


# Who sends a request, or None if it says nothing to this authenticator; raises InvalidCredentials.
RequestAuthenticator = Callable[[Request], "User | Awaitable[User | None] | None"]
# Whose token it is for one of these audiences, or None if it is none of its tokens; raises InvalidCredentials.
TokenAuthenticator = Callable[
    [bytes, Audiences], "AuthenticatedToken | Awaitable[AuthenticatedToken | None] | None"
]


@dataclass(frozen=True, slots=True)
class AuthenticatorInputs:
    """What authenticators are made from. ``audiences`` are the names that this server goes by."""

    arguments: argparse.Namespace
    context: ServerContext
    audiences: Audiences
    accounts: ServiceAccounts
    clients: CABundle | None
    proxies: CABundle | None
    # The issuers whose tokens are believed.
    jwt: JwtAuthenticators | None = None
    # Called when the store has been loaded; authenticators that follow objects add to it.
    on_start: list[Callable[[], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Authenticator:
    """One authenticator: it looks at requests or at bearer tokens. They are asked in the order of their numbers."""

    order: int
    flags: tuple[Flag, ...]
    for_requests: Callable[[AuthenticatorInputs], RequestAuthenticator | None] | None = None
    for_tokens: Callable[[AuthenticatorInputs], TokenAuthenticator | None] | None = None


def meant_for(wanted: Audiences, given: Audiences) -> Audiences:
    """Return those of the wanted audiences that are given, in the order in which they are given."""
    return given if wanted is given else tuple(audience for audience in given if audience in wanted)
