"""PodCertificateRequest cleaner: deletes requests of pods that are long over."""

from __future__ import annotations

from pybernetes.client.errors import Conflict, NotFound
from pybernetes.client.refs import POD_CERTIFICATE_REQUESTS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib import rfc3339
from pybernetes.runtime.cache import split_key
from pybernetes.runtime.controller import Controller

_KEPT_SECONDS = 900.0


class PodCertificateRequestCleaner(Controller):
    """Works on keys of requests."""

    name = "podcertificaterequest-cleaner-controller"
    kind = POD_CERTIFICATE_REQUESTS
    workers = 1

    async def reconcile(self, key: str) -> float | None:
        """Delete an expired request; return in how many seconds it expires otherwise."""
        request = self.objects.get(key)
        if request is None:
            return None
        meta = request["metadata"]
        left = rfc3339.parse(meta["creationTimestamp"]) + _KEPT_SECONDS - self.clock.now()
        if left > 0:
            return left
        namespace, name = split_key(key)
        try:
            await self.client.delete(POD_CERTIFICATE_REQUESTS, name, namespace, uid=meta["uid"])
        except (NotFound, Conflict):
            pass
        return None


CONTROLLER = Descriptor(
    name=PodCertificateRequestCleaner.name,
    identity="podcertificaterequestcleaner",
    build=lambda runtime, options: PodCertificateRequestCleaner(runtime),
)
