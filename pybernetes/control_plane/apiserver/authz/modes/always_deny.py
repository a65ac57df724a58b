"""AlwaysDeny: nobody may do anything, except for the administrators' group."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.authorizer import Mode
from pybernetes.control_plane.apiserver.authz.verdict import Rules, Verdict
from pybernetes.control_plane.apiserver.request_info import RequestInfo

_NO = Verdict(reason="Everything is forbidden.")


class AlwaysDeny:
    """The authorizer."""

    name = "AlwaysDeny"

    def start(self) -> None:
        """Read nothing."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Allow nothing; a later authorizer may still do so."""
        return _NO

    def rules(self, user: User, namespace: str) -> Rules:
        """Return no rules."""
        return Rules()


MODE = Mode("AlwaysDeny", lambda context, arguments: AlwaysDeny())
