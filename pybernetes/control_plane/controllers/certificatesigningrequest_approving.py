"""CSR approving: approves requests of kubelets for client certificates, if they may make them."""

from __future__ import annotations

import logging

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS
from pybernetes.control_plane.controllers._certificates import signing_requests
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.runtime.controller import Controller

log = logging.getLogger(__name__)


def recognized(csr: Object) -> list[tuple[str, str]]:
    """Return the permissions that allow a request, each with the message of the approval."""
    spec = csr["spec"]
    if spec.get("signerName") != signing_requests.KUBELET_CLIENT:
        return []
    request = signing_requests.parse(csr)
    if signing_requests.kubelet_client_fault(request, spec.get("usages") or ()):
        return []
    permissions = [("nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview.")]
    if spec.get("username") == signing_requests.common_name(request):
        permissions.insert(
            0, ("selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview.")
        )
    return permissions


class ApprovingController(Controller):
    """Works on names of requests."""

    name = "certificatesigningrequest-approving-controller"
    kind = CERTIFICATE_SIGNING_REQUESTS

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return new is not None and signing_requests.is_open(new)

    async def reconcile(self, key: str) -> None:
        """Approve a request of a kubelet that may make it."""
        csr = self.objects.get(key)
        if csr is None or not signing_requests.is_open(csr):
            return
        tried = []
        for permission, message in recognized(csr):
            tried.append(permission)
            if await self._may(csr, permission):
                await self._approve(csr, message)
                return
        if tried:
            log.info("%s was recognized as %s, which its maker may not make", key, ", ".join(tried))

    async def _may(self, csr: Object, permission: str) -> bool:
        spec = csr["spec"]
        asked = {
            "user": spec.get("username", ""),
            "uid": spec.get("uid", ""),
            "groups": spec.get("groups") or [],
            "extra": spec.get("extra") or {},
            "resourceAttributes": {
                "group": "certificates.k8s.io",
                "version": "*",
                "resource": "certificatesigningrequests",
                "subresource": permission,
                "verb": "create",
            },
        }
        review = await self.client.create(SUBJECT_ACCESS_REVIEWS, {"metadata": {}, "spec": asked})
        return bool(review["status"].get("allowed"))

    async def _approve(self, csr: Object, message: str) -> None:
        changed = signing_requests.approved(csr, message)
        try:
            await self.client.update(CERTIFICATE_SIGNING_REQUESTS, changed, subresource="approval")
        except NotFound:
            pass


CONTROLLER = Descriptor(
    name=ApprovingController.name,
    aliases=("csrapproving",),
    identity="certificate-controller",
    build=lambda runtime, options: ApprovingController(runtime),
)
