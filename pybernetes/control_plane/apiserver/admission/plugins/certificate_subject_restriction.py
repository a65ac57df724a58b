"""CertificateSubjectRestriction: nobody asks for a certificate of the administrators' group."""

from __future__ import annotations

from typing import Any

from pybernetes.api import csr
from pybernetes.control_plane.apiserver.admission.chain import CREATE, Attributes, Scope
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.authn.user import MASTERS


class CertificateSubjectRestriction:
    """The plugin."""

    name = "CertificateSubjectRestriction"
    scope = Scope(operations=(CREATE,), resources=("certificatesigningrequests.certificates.k8s.io",))

    def __init__(self, api: Api, configuration: Any = None) -> None:
        pass

    def validate(self, attributes: Attributes) -> None:
        """Refuses the group ``system:masters`` in requests to the signer of client certificates."""
        spec = (attributes.obj or {}).get("spec", {})
        if spec.get("signerName") != csr.CLIENT_SIGNER:
            return
        try:
            subject = csr.subject(spec.get("request", ""))
        except ValueError as error:
            attributes.refuse(f"failed to parse CSR: {error}")
        if MASTERS in subject.organizations:
            attributes.refuse(f"use of {csr.CLIENT_SIGNER} signer with {MASTERS} group is not allowed")


PLUGIN = CertificateSubjectRestriction
