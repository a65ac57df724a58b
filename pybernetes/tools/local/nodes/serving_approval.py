"""Approves the requests of a local cluster's kubelets for serving certificates.

Kubernetes leaves that to whoever knows which machine a name and an address belong to; of a local cluster this machine does.
A kubelet gets a certificate for its own name and addresses and for nothing else, whatever its Node says.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._certificates import signing_requests
from pybernetes.control_plane.controllers._certificates.approver import Approver
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
SERVING_USER = "system:kubelet-serving-approval"
MESSAGE = "Auto approving the serving certificate of a local node."  # of an approval
_USER = "system:node:"


def node_of(csr: Object) -> str:
    """Return the node that asks for a serving certificate of its own; empty if that is not what the request is."""
    spec = csr["spec"]
    if spec.get("signerName") != signing_requests.KUBELET_SERVING:
        return ""
    try:
        request = signing_requests.parse(csr)
    except ValueError:
        return ""
    if signing_requests.kubelet_serving_fault(request, spec.get("usages") or ()):
        return ""
    user = signing_requests.common_name(request)
    return user.removeprefix(_USER) if spec.get("username") == user else ""


def asks_for_more(csr: Object, name: str, addresses: Sequence[str]) -> list[str]:
    """Return the names that a request asks for beyond those of its node."""
    asked = signing_requests.names_of(signing_requests.parse(csr))
    names = [*asked["dns"], *map(str, asked["ip"])]
    return [other for other in names if other not in (name, *addresses)]


class ServingApproval(Approver):
    """Works on names of requests. ``addresses_of`` returns those that this machine gave a node."""

    name = "kubelet-serving-approval"
    workers = 1

    def __init__(self, runtime: Runtime, addresses_of: Callable[[str], Awaitable[Sequence[str]]]) -> None:
        super().__init__(runtime)
        self._addresses_of = addresses_of

    async def decide(self, csr: Object) -> str:
        """Approve a kubelet's request for its own name and address."""
        node = node_of(csr)
        addresses = await self._addresses_of(node) if node else ()
        if not addresses:
            return ""
        if more := asks_for_more(csr, node, addresses):
            log.warning("%s: the node %s asks for names that are not its own: %s",
                        csr["metadata"]["name"], node, ", ".join(more))  # fmt: skip
            return ""
        return MESSAGE
