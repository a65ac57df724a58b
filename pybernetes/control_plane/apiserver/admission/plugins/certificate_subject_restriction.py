"""CertificateSubjectRestriction: nobody asks for a certificate of the administrators' group."""

from __future__ import annotations

from typing import Any

from pybernetes.api.certificates.certificatesigningrequest import certificate_request
from pybernetes.control_plane.apiserver.admission.chain import CREATE, Attributes, Scope
from pybernetes.control_plane.apiserver.authn.user import MASTERS
from pybernetes.control_plane.apiserver.context import ServerContext


class CertificateSubjectRestriction:
    """The plugin."""

    name = "CertificateSubjectRestriction"
    scope = Scope(operations=(CREATE,), resources=("certificatesigningrequests.certificates.k8s.io",))

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        pass

    def validate(self, attributes: Attributes) -> None:
        """Refuses the group ``system:masters`` in requests to the signer of client certificates."""
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
