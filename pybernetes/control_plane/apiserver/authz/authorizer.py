"""What an authorizer offers, and what a mode of ``--authorization-mode`` declares."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.verdict import Rules, Verdict
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.context import ServerContext


class Authorizer(Protocol):
    """Says who may do what, or that it has no opinion."""

    @property
    def name(self) -> str:
        """The mode that it is of."""
        ...

    def start(self) -> None:
        """Read what is needed from the store; called once, when the store has been loaded."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the verdict on a request, at once if possible."""
        ...

    def rules(self, user: User, namespace: str) -> Rules:
        """Return what the user may do in a namespace, as far as it can be listed."""
        ...


@dataclass(frozen=True)
class Mode:
    """One mode: each is a file in ``modes`` with one ``MODE``."""

    name: str  # as --authorization-mode names it
    build: Callable[[ServerContext, argparse.Namespace], Authorizer]
    flags: tuple[Flag, ...] = ()
    # Raises ValueError if the flags make no sense for a server with this mode.
    check: Callable[[argparse.Namespace], None] = lambda arguments: None
