"""AlwaysAllow: everybody may do everything."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.authorizer import Mode
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, Rules, Verdict
from pybernetes.control_plane.apiserver.request_info import RequestInfo

_EVERYTHING = [
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
]


class AlwaysAllow:
    """The authorizer."""

    name = "AlwaysAllow"

    def start(self) -> None:
        """Read nothing."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Allow everything."""
        return ALLOWED

    def rules(self, user: User, namespace: str) -> Rules:
        """Return rules that allow everything."""
        return Rules(list(_EVERYTHING))


MODE = Mode("AlwaysAllow", lambda context, arguments: AlwaysAllow())
