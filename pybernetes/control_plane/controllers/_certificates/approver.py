"""What approves certificate signing requests by itself: one decision for each request that nobody has decided about."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS
from pybernetes.control_plane.controllers._certificates import signing_requests
from pybernetes.runtime.controller import Controller


class Approver(Controller):
    """Works on names of requests; ``decide`` says which are approved."""

    kind = CERTIFICATE_SIGNING_REQUESTS

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return new is not None and signing_requests.is_open(new)

    async def reconcile(self, key: str) -> None:
        """Approve a request if it may be; others are left for somebody to decide."""
        csr = self.objects.get(key)
        if csr is None or not signing_requests.is_open(csr):
            return
        if message := await self.decide(csr):
            changed = signing_requests.approved(csr, message)
            try:
                await self.client.update(CERTIFICATE_SIGNING_REQUESTS, changed, subresource="approval")
            except NotFound:
                pass

    async def decide(self, csr: Object) -> str:
        """Return the message of the approval; an empty text if the request is not approved here."""
        raise NotImplementedError
