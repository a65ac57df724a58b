"""Whom a certificate request asks to be."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api.certificates import _pem

CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING_SIGNER = "kubernetes.io/kubelet-serving"


class Subject(NamedTuple):
    """A user as a certificate names it."""

    common_name: str
    organizations: tuple[str, ...]


def subject(text: str) -> Subject:
    """Return the subject of a request in PEM, Base64 around it as objects carry it; raise ValueError if it is none."""
    from cryptography.x509.oid import NameOID  # imported late: few requests need it

    block = next(_pem.blocks(_pem.from_base64(text)), None)
    if block is None or block.type != "CERTIFICATE REQUEST":
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    request = _pem.request(block.content)
    if request is None:
        raise ValueError("asn1: structure error: not a certificate request")
    names = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    organizations = request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    # Of several common names the last counts, as in Go.
    return Subject(
        str(names[-1].value) if names else "",
        tuple(str(organization.value) for organization in organizations),
    )
