"""The certificate that a client showed when it connected, looked at once per connection."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Collection
from typing import Any, NoReturn

from pybernetes.control_plane.apiserver.authn.authenticator import InvalidCredentials
from pybernetes.control_plane.apiserver.authn.user import CREDENTIAL_ID, User, authenticated
from pybernetes.control_plane.apiserver.connection import Connection
from pybernetes.lib.tls import certificate_subject
from pybernetes.lib.tls.serving_certificates import verified_chain

# What a connection notes about a client without a certificate.
NO_CERTIFICATE: Any = object()
_UNKNOWN = "x509: certificate signed by unknown authority"


class ClientCertificate:
    """A certificate that TLS found valid: its name, its user and the chain that it hangs on."""

    __slots__ = ("chain", "common_name", "problem", "until", "user")

    def __init__(self, certificate: dict[str, Any], leaf: bytes, chain: frozenset[bytes]) -> None:
        self.common_name, organizations, uids = certificate_subject.of_peer(certificate)
        self.chain = chain
        self.until = ssl.cert_time_to_seconds(certificate["notAfter"])
        self.problem = ""
        if len(uids) > 1:
            self.problem = "expected 1 UID, but found several"
        elif uids == ("",):
            self.problem = "UID cannot be an empty string"
        self.user: User | None = None
        if self.common_name and not self.problem:
            credential = {CREDENTIAL_ID: [f"X509SHA256={hashlib.sha256(leaf).hexdigest()}"]}
            self.user = authenticated(self.common_name, uids[0] if uids else "", organizations, credential)

    def check(self, authorities: Collection[bytes], now: float) -> None:
        """Raise InvalidCredentials unless one of these authorities (by fingerprint) vouches for it now."""
        if self.problem:
            raise InvalidCredentials(self.problem)
        if self.chain.isdisjoint(authorities):
            raise InvalidCredentials(_UNKNOWN)
        if now > self.until:
            raise InvalidCredentials("x509: certificate has expired or is not yet valid")


class UnverifiedCertificate:
    """A certificate that TLS did not find valid. What it says is not even read."""

    common_name = ""
    user: User | None = None

    def check(self, authorities: Collection[bytes], now: float) -> NoReturn:
        """Raise InvalidCredentials."""
        raise InvalidCredentials(f"{_UNKNOWN}, out of its time, or not for clients")


_UNVERIFIED = UnverifiedCertificate()


def client_certificate(connection: Connection) -> ClientCertificate | UnverifiedCertificate | None:
    """Return the certificate behind a connection, or None if the client showed none."""
    peer = connection.peer
    if peer is None:
        tls = connection.tls
        leaf = tls.getpeercert(binary_form=True) if tls is not None else None
        if tls is None or leaf is None:
            peer = NO_CERTIFICATE
        elif chain := verified_chain(tls):
            peer = ClientCertificate(tls.getpeercert() or {}, leaf, chain)
        else:
            peer = _UNVERIFIED
        connection.peer = peer
    return None if peer is NO_CERTIFICATE else peer
