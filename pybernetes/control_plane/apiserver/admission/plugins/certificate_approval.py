"""CertificateApproval: who approves or denies a certificate request must be allowed to for its signer."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.authorization_checks import require_signer
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

REQUESTS = "certificatesigningrequests.certificates.k8s.io"


class CertificateApproval(Plugin):
    """The plugin."""

    name = "CertificateApproval"
    order = 250
    on_by_default = True
    scope = Scope(operations=(UPDATE,), resources=(REQUESTS,), subresources=("approval",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._context = inputs.context

    async def validate(self, attributes: Attributes) -> None:
        """Refuse a decision without the permission ``approve`` for the signer."""
        await require_signer(self._context, attributes, "approve")


PLUGIN = CertificateApproval
