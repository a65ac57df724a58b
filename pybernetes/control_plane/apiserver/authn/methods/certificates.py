"""X.509 client certificates: the common name is the user, the organizations are the groups."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.method import Method, Parts, RequestMethod
from pybernetes.control_plane.apiserver.authn.peer import NOBODY, peer_of
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.flags import Flag

FLAGS = (
    Flag(
        "client-ca-file",
        "",
        "clients with a certificate of one of these authorities are known by its common name",
    ),
)


def requests(parts: Parts) -> RequestMethod | None:
    """Certificates of the authorities for clients."""
    bundle, clock = parts.clients, parts.api.clock
    if bundle is None:
        return None

    def authenticate(request: Request) -> User | None:
        peer = request.connection.peer
        if peer is NOBODY or (peer := peer_of(request.connection)) is None:
            return None
        peer.check(bundle.fingerprints, clock())
        return peer.user

    return authenticate


METHOD = Method(order=20, flags=FLAGS, for_requests=requests)
