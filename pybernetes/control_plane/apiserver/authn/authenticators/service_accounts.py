"""Tokens of service accounts: bound ones, and old ones that live in secrets."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Authenticator,
    AuthenticatorInputs,
    TokenAuthenticator,
)
from pybernetes.control_plane.apiserver.authn.service_accounts.settings import FLAGS
from pybernetes.control_plane.apiserver.authn.service_accounts.tokens import Tokens


def tokens(inputs: AuthenticatorInputs) -> TokenAuthenticator | None:
    """Return what knows the tokens that this server, or another with its keys, has made."""
    known = Tokens(inputs.context, inputs.accounts)
    inputs.on_start.append(known.start)
    inputs.context.metrics.more.append(known.uses.render)
    return known


AUTHENTICATOR = Authenticator(order=40, flags=FLAGS, for_tokens=tokens)
