"""RBAC: what roles allow to those whom bindings name."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.verdict import Rules


class Mode:
    """The authorizer; the server keeps the index of roles in any case, to judge new roles and bindings."""

    name = "RBAC"

    def __init__(self, api: Api) -> None:
        self._roles = api.roles
        self.authorize = api.roles.authorize

    def start(self) -> None:
        """The server has started the index."""

    def rules(self, user: User, namespace: str) -> Rules:
        """The rules of the user's roles."""
        return Rules(self._roles.rules(user, namespace), False, self._roles.missing(user, namespace))
