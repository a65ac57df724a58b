"""CSR cleaner: deletes requests that nobody needs any more."""

from __future__ import annotations

import base64

from cryptography import x509

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib import rfc3339
from pybernetes.runtime.controller import Controller

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


class CleanerController(Controller):
    """Works on names of requests."""

    name = "certificatesigningrequest-cleaner-controller"
    kind = CERTIFICATE_SIGNING_REQUESTS
    workers = 1

    async def reconcile(self, key: str) -> float | None:
        """Delete an expired request; return in how many seconds it expires otherwise."""
        csr = self.objects.get(key)
        end = expires(csr) if csr is not None else None
        if csr is None or end is None:
            return None
        left = end - self.clock.now()
        if left > 0:
            return left + 1
        try:
            await self.client.delete(CERTIFICATE_SIGNING_REQUESTS, key, uid=csr["metadata"]["uid"])
        except NotFound:
            pass
        return None


CONTROLLER = Descriptor(
    name=CleanerController.name,
    aliases=("csrcleaner",),
    identity="certificate-controller",
    build=lambda runtime, options: CleanerController(runtime),
)
