"""RBAC: what roles allow to those whom bindings name."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.authorizer import Mode
from pybernetes.control_plane.apiserver.authz.verdict import Rules
from pybernetes.control_plane.apiserver.context import ServerContext


class RbacAuthorizer:
    """The authorizer; the server keeps the index of roles in any case, to judge new roles and bindings."""

    name = "RBAC"

    def __init__(self, context: ServerContext) -> None:
        self._roles = context.roles
        self.authorize = context.roles.authorize

    def start(self) -> None:
        """Leave it to the server, which starts the index."""

    def rules(self, user: User, namespace: str) -> Rules:
        """Return the rules of the user's roles."""
        return Rules(self._roles.rules(user, namespace), False, self._roles.missing(user, namespace))


MODE = Mode("RBAC", lambda context, arguments: RbacAuthorizer(context))
