"""From the command line to the authenticators."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.control_plane.apiserver.authn import authenticators
from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.authn.authenticator import (
    Authenticator,
    AuthenticatorInputs,
    RequestAuthenticator,
    TokenAuthenticator,
)
from pybernetes.control_plane.apiserver.authn.authenticators.front_proxy import USUAL
from pybernetes.control_plane.apiserver.authn.bearer_tokens import BearerTokens
from pybernetes.control_plane.apiserver.authn.jwt.jwt_authenticators import JwtAuthenticators
from pybernetes.control_plane.apiserver.authn.jwt.setup import JwtConfiguration
from pybernetes.control_plane.apiserver.authn.service_accounts.settings import DEFAULT_ISSUER, settings
from pybernetes.control_plane.apiserver.proxy.egress_selector import EgressSelector
from pybernetes.lib.discover import discover
from pybernetes.lib.flags import Flag
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.serving_certificates import CABundle

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.context import ServerContext


FLAGS = (
    Flag("anonymous-auth", True, "let clients without credentials in as system:anonymous"),
    Flag("api-audiences", (), "names of this API that tokens may be meant for (the issuers)"),
)


def all_authenticators() -> list[Authenticator]:
    """Return every authenticator in their folder, in the order in which they are asked."""
    return sorted(
        discover(authenticators.__name__, "AUTHENTICATOR").values(),
        key=lambda authenticator: authenticator.order,
    )


def issuers(arguments: argparse.Namespace, server: str, egress: EgressSelector) -> JwtConfiguration:
    """Return the issuers whose tokens are believed beside the server's own; ValueError if that makes no sense."""
    own = tuple(arguments.service_account_issuer) or (DEFAULT_ISSUER,)
    return JwtConfiguration(arguments, own, server, egress)


def flags() -> list[Flag]:
    """Return the flags of authentication."""
    return [*FLAGS, *(flag for authenticator in all_authenticators() for flag in authenticator.flags)]


def bundles(arguments: argparse.Namespace, own: Path | None) -> tuple[CABundle | None, CABundle | None]:
    """Return the authorities of clients, which are the server's own unless others are given, and those of front proxies.

    A server that makes its own certificates makes an authority for front proxies too: other servers of the cluster
    expect that there is one.
    """
    clients, proxies = arguments.client_ca_file or own, arguments.requestheader_client_ca_file
    if own is not None and not proxies and not arguments.requestheader_username_headers:
        proxies, _ = tls.ensure_authority(own.parent, "pybernetes-front-proxy-ca", "front-proxy-ca")
        for name, value in USUAL.items():
            setattr(arguments, f"requestheader_{name}", value)
    return CABundle(Path(clients)) if clients else None, CABundle(Path(proxies)) if proxies else None


def authentication(
    arguments: argparse.Namespace,
    clients: CABundle | None,
    proxies: CABundle | None,
    anonymous: bool,
    issuers: JwtConfiguration,
) -> Callable[[ServerContext], Authentication]:
    """Return what makes the authentication of a server."""
    accounts = settings(arguments)
    paths: frozenset[str] = frozenset()
    if issuers.anonymous is not None:
        anonymous, paths = anonymous and issuers.anonymous.enabled, issuers.anonymous.paths

    def build(context: ServerContext) -> Authentication:
        jwt = JwtAuthenticators(
            context.https, accounts.audiences, context.clock, issuers.issuers, issuers.egress.of_issuer
        )
        inputs = AuthenticatorInputs(arguments, context, accounts.audiences, accounts, clients, proxies, jwt)
        requests: list[RequestAuthenticator] = []
        tokens: list[TokenAuthenticator] = []
        for authenticator in all_authenticators():
            if authenticator.for_requests is not None:
                by_request = authenticator.for_requests(inputs)
                if by_request is not None:
                    requests.append(by_request)
            if authenticator.for_tokens is not None:
                by_token = authenticator.for_tokens(inputs)
                if by_token is not None:
                    tokens.append(by_token)
        return Authentication(
            requests, BearerTokens(tokens, accounts.audiences), anonymous=anonymous, anonymous_paths=paths, jwt=jwt,
            audiences=accounts.audiences, accounts=accounts, on_start=inputs.on_start, private=_private(arguments),
        )  # fmt: skip

    return build


def _private(arguments: argparse.Namespace) -> Callable[[bytes], bool] | None:
    """Return which headers of front proxies are not passed on, besides the usual ones, which never are."""
    names = frozenset(
        name.lower().encode()
        for name in (
            *arguments.requestheader_username_headers,
            *arguments.requestheader_uid_headers,
            *arguments.requestheader_group_headers,
        )
    )
    prefixes = tuple(prefix.lower().encode() for prefix in arguments.requestheader_extra_headers_prefix)
    if all(name.startswith(b"x-remote-") for name in (*names, *prefixes)):
        return None
    return lambda name: name in names or name.startswith(prefixes)
