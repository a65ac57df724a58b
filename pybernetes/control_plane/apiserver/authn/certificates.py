"""X.509 client certificates: the common name is the user, the organizations are the groups."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.control_plane.apiserver.http.messages import Request

_NONE: Any = object()


def authenticate(request: Request) -> User | None:
    """The user of the connection's certificate, which TLS has verified; looked at once per connection."""
    connection = request.connection
    if connection.peer is None:
        tls = connection.tls
        certificate = tls.getpeercert() if tls is not None else None
        connection.peer = user_of(certificate) if certificate else _NONE
    return None if connection.peer is _NONE else connection.peer


def user_of(certificate: dict[str, Any]) -> User | None:
    """The user that a verified certificate names."""
    names: dict[str, list[str]] = {}
    for part in certificate.get("subject", ()):
        for key, value in part:
            names.setdefault(key, []).append(value)
    common = names.get("commonName", [""])[0]
    if not common:
        return _NONE
    return User(common, groups=(*names.get("organizationName", ()), AUTHENTICATED))
