"""AlwaysAllow: everybody may do everything."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, Rules, Verdict
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request_info import RequestInfo

_EVERYTHING = [
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
]


class Mode:
    """The authorizer."""

    name = "AlwaysAllow"

    def __init__(self, context: ServerContext) -> None: ...

    def start(self) -> None:
        """Nothing to read."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Always yes."""
        return ALLOWED

    def rules(self, user: User, namespace: str) -> Rules:
        """Everything."""
        return Rules(list(_EVERYTHING))
