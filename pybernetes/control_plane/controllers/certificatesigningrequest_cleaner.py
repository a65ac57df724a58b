"""CSR cleaner: deletes requests that nobody needs any more."""

from __future__ import annotations

import base64

from cryptography import x509

from pybernetes.api.resource import Object
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.cleaner import Cleaner
from pybernetes.lib import rfc3339

_DECIDED_SECONDS, _PENDING_SECONDS = 3600.0, 86400.0


def expires(csr: Object) -> float | None:
    """Return when a request expires, in seconds since the epoch; None if that is not known."""
    status = csr.get("status", {})
    conditions = status.get("conditions") or ()
    if not conditions:
        return rfc3339.parse(csr["metadata"]["creationTimestamp"]) + _PENDING_SECONDS
    ends = []
    for condition in conditions:
        since = rfc3339.parse(condition["lastUpdateTime"]) if condition.get("lastUpdateTime") else None
        if condition["type"] in ("Denied", "Failed") and since is not None:
            ends.append(since + _DECIDED_SECONDS)
        elif condition["type"] == "Approved":
            issued = status.get("certificate")
            if since is not None:
                ends.append(since + (_DECIDED_SECONDS if issued else _PENDING_SECONDS))
            if issued and (end := _end(issued)) is not None:
                ends.append(end)
    return min(ends, default=None)


def _end(certificate: str) -> float | None:
    try:
        loaded = x509.load_pem_x509_certificate(base64.b64decode(certificate))
    except ValueError:
        return None
    return loaded.not_valid_after_utc.timestamp()


class CleanerController(Cleaner):
    """Works on names of requests."""

    name = "certificatesigningrequest-cleaner-controller"
    kind = CERTIFICATE_SIGNING_REQUESTS

    def seconds_left(self, obj: Object) -> float | None:
        end = expires(obj)
        left = end - self.clock.now() if end is not None else None
        return left + 1 if left is not None and left > 0 else left


CONTROLLER = Descriptor(
    name=CleanerController.name,
    aliases=("csrcleaner",),
    identity="certificate-controller",
    build=lambda runtime, options: CleanerController(runtime),
)
