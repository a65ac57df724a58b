"""How a member is reached: what a KubeFedCluster and its secret say."""

from __future__ import annotations

import base64
import binascii
import ssl
from urllib.parse import urlsplit

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.credentials import Authority, Token
from pybernetes.client.rest_transport import RestTransport
from pybernetes.control_plane.federation.kinds import COMPONENT

ANY, SUBJECT_NAME, VALIDITY_PERIOD = "*", "SubjectName", "ValidityPeriod"
_MOST_BYTES = 32 << 20  # of an answer of a member, or of an event
_NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python has no name for


class MemberAuthority(Authority):
    """Whom a member's certificate has to be from, and what of it is not looked at."""

    def __init__(self, bundle: str | None, disabled: frozenset[str]) -> None:
        super().__init__(None, bundle, verify=ANY not in disabled)
        self._disabled = disabled

    def make(self) -> ssl.SSLContext:
        """Return a new TLS context."""
        context = super().make()
        if SUBJECT_NAME in self._disabled:
            context.check_hostname = False
        if VALIDITY_PERIOD in self._disabled:
            context.verify_flags |= ssl.VerifyFlags(_NO_CHECK_TIME)
        return context


def endpoint(text: str) -> str:
    """Return the URL of an API endpoint, which may be a name or an address alone; ValueError if it is none."""
    url = text if "://" in text else f"https://{text}"
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise ValueError(f"spec.apiEndpoint: {text!r} is not the address of a server that speaks HTTPS")
    if parts.username or parts.query or parts.fragment:
        raise ValueError(f"spec.apiEndpoint: {text!r} is more than an address")
    return url


def token_of(secret: Object | None, name: str) -> str:
    """Return the token in a secret; ValueError if there is none."""
    data = ((secret or {}).get("data") or {}).get("token")
    if not data:
        raise ValueError(f"spec.secretRef: the secret {name!r} has no token")
    try:
        return base64.b64decode(data, validate=True).decode("ascii").strip()
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError(
            f"spec.secretRef: the token in the secret {name!r} is not base64 of a token"
        ) from None


def client_of(cluster: Object, secret: Object | None, calls_at_once: int) -> Client:
    """Return a client for a member; ValueError says why there can be none."""
    spec = cluster["spec"]
    if spec.get("proxyURL"):
        raise ValueError("spec.proxyURL: proxies on the way to a cluster are not supported")
    token = token_of(secret, spec["secretRef"]["name"])
    bundle = spec.get("caBundle")
    try:
        text = base64.b64decode(bundle).decode() if bundle else None
    except ValueError:
        raise ValueError("spec.caBundle: it is not base64 of a PEM text") from None
    authority = MemberAuthority(text, frozenset(spec.get("disabledTLSValidations") or ()))
    transport = RestTransport(
        endpoint(spec["apiEndpoint"]),
        Token(authority, token),
        calls_at_once=calls_at_once,
        most_bytes=_MOST_BYTES,
    )
    return Client(transport, user_agent=COMPONENT)
