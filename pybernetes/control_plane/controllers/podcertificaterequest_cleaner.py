"""PodCertificateRequest cleaner: deletes requests of pods that are long over."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import POD_CERTIFICATE_REQUESTS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.cleaner import Cleaner
from pybernetes.lib import rfc3339

_KEPT_SECONDS = 900.0


class PodCertificateRequestCleaner(Cleaner):
    """Works on keys of requests."""

    name = "podcertificaterequest-cleaner-controller"
    kind = POD_CERTIFICATE_REQUESTS

    def seconds_left(self, obj: Object) -> float | None:
        return rfc3339.parse(obj["metadata"]["creationTimestamp"]) + _KEPT_SECONDS - self.clock.now()


CONTROLLER = Descriptor(
    name=PodCertificateRequestCleaner.name,
    identity="podcertificaterequestcleaner",
    build=lambda runtime, options: PodCertificateRequestCleaner(runtime),
)
