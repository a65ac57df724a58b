"""CertificateSubjectRestriction: nobody asks for a certificate of the administrators' group."""

from __future__ import annotations

from pybernetes.api.certificates.certificatesigningrequest import certificate_request
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope
from pybernetes.control_plane.apiserver.authn.user import MASTERS


class CertificateSubjectRestriction(Plugin):
    """The plugin."""

    name = "CertificateSubjectRestriction"
    order = 280
    on_by_default = True
    scope = Scope(operations=(CREATE,), resources=("certificatesigningrequests.certificates.k8s.io",))

    def validate(self, attributes: Attributes) -> None:
        """Refuse the group ``system:masters`` in requests to the signer of client certificates."""
        spec = (attributes.obj or {}).get("spec", {})
        if spec.get("signerName") != certificate_request.CLIENT_SIGNER:
            return
        try:
            subject = certificate_request.subject(spec.get("request", ""))
        except ValueError as error:
            attributes.refuse(f"failed to parse CSR: {error}")
        if MASTERS in subject.organizations:
            attributes.refuse(
                f"use of {certificate_request.CLIENT_SIGNER} signer with {MASTERS} group is not allowed"
            )


PLUGIN = CertificateSubjectRestriction
