"""X.509 client certificates: the common name is the user, the organizations are the groups."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Authenticator,
    AuthenticatorInputs,
    RequestAuthenticator,
)
from pybernetes.control_plane.apiserver.authn.client_certificate import NO_CERTIFICATE, client_certificate
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


def requests(inputs: AuthenticatorInputs) -> RequestAuthenticator | None:
    """Return what knows clients by certificates of the authorities for clients."""
    bundle, clock = inputs.clients, inputs.context.clock
    if bundle is None:
        return None

    def authenticate(request: Request) -> User | None:
        peer = request.connection.peer
        if peer is NO_CERTIFICATE or (peer := client_certificate(request.connection)) is None:
            return None
        peer.check(bundle.fingerprints, clock())
        return peer.user

    return authenticate


AUTHENTICATOR = Authenticator(order=20, flags=FLAGS, for_requests=requests)
