"""Whom a certificate request asks to be."""

from __future__ import annotations

from pybernetes.api.certificates import _pem
from pybernetes.lib.tls import certificate_subject

CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING_SIGNER = "kubernetes.io/kubelet-serving"


def subject(text: str) -> certificate_subject.Subject:
    """Return the subject of a request in PEM, Base64 around it as objects carry it; raise ValueError if it is none."""
    block = next(_pem.blocks(_pem.from_base64(text)), None)
    if block is None or block.type != "CERTIFICATE REQUEST":
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    request = _pem.request(block.content)
    if request is None:
        raise ValueError("asn1: structure error: not a certificate request")
    return certificate_subject.of_name(request.subject)
