"""Tokens of service accounts: bound ones, and old ones that live in secrets."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.method import Method, Parts, TokenMethod
from pybernetes.control_plane.apiserver.authn.service_accounts.settings import FLAGS
from pybernetes.control_plane.apiserver.authn.service_accounts.tokens import Tokens


def tokens(parts: Parts) -> TokenMethod | None:
    """The tokens that this server, or another with its keys, has made."""
    return Tokens(parts.api, parts.accounts)


METHOD = Method(order=40, flags=FLAGS, for_tokens=tokens)
