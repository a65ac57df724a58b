"""What a way of proving who one is looks like. Each way is a file in ``methods`` with one ``METHOD``."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.api import Api
    from pybernetes.control_plane.apiserver.authn.service_accounts.settings import ServiceAccounts
    from pybernetes.lib.serving import Bundle

Audiences = tuple[str, ...]


class Refused(Exception):
    """Credentials that one method knows to be bad; another may still know the client. Never holds the credentials."""


class Known(NamedTuple):
    """Whose token it is, which of the audiences it is meant for, and what its bearer should be told.

    ``holds`` says whether this is still so; without it the token has to be looked at every time.
    """

    user: User
    audiences: Audiences
    warnings: tuple[str, ...] = ()
    holds: Callable[[], bool] | None = None


# Who sends a request, or None if it says nothing to this method; raises Refused.
RequestMethod = Callable[[Request], "User | Awaitable[User | None] | None"]
# Whose token it is for one of these audiences, or None if it is not for this method to say; raises Refused.
TokenMethod = Callable[[bytes, Audiences], "Known | Awaitable[Known | None] | None"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What methods are made from. ``audiences`` are the names that this server goes by."""

    arguments: argparse.Namespace
    api: Api
    audiences: Audiences
    accounts: ServiceAccounts
    clients: Bundle | None
    proxies: Bundle | None


@dataclass(frozen=True, slots=True)
class Method:
    """One method: it looks at requests or at bearer tokens. Methods are asked in the order of their numbers."""

    order: int
    flags: tuple[Flag, ...]
    for_requests: Callable[[Parts], RequestMethod | None] | None = None
    for_tokens: Callable[[Parts], TokenMethod | None] | None = None


def meant_for(wanted: Audiences, given: Audiences) -> Audiences:
    """Those of the wanted audiences that are given, in the order in which they are given."""
    return given if wanted is given else tuple(each for each in given if each in wanted)
