"""CSR approving: approves requests of kubelets for client certificates, if they may make them."""

from __future__ import annotations

import logging

from pybernetes.api.resource import Object
from pybernetes.client.refs import SUBJECT_ACCESS_REVIEWS
from pybernetes.control_plane.controllers._certificates import signing_requests
from pybernetes.control_plane.controllers._certificates.approver import Approver
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor

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


class ApprovingController(Approver):
    """Works on names of requests."""

    name = "certificatesigningrequest-approving-controller"

    async def decide(self, csr: Object) -> str:
        """Approve a request of a kubelet that may make it."""
        tried = []
        for permission, message in recognized(csr):
            tried.append(permission)
            if await self._may(csr, permission):
                return message
        if tried:
            name = csr["metadata"]["name"]
            log.info("%s was recognized as %s, which its maker may not make", name, ", ".join(tried))
        return ""

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


CONTROLLER = Descriptor(
    name=ApprovingController.name,
    aliases=("csrapproving",),
    identity="certificate-controller",
    build=lambda runtime, options: ApprovingController(runtime),
)
