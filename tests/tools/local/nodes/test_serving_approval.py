"""Which serving certificates kubelets of a local cluster get."""

from __future__ import annotations

import base64
import ipaddress
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pybernetes.control_plane.controllers._certificates.signing_requests import KUBELET_SERVING
from pybernetes.tools.local.nodes.serving_approval import asks_for_more, node_of

_USAGES = ["digital signature", "server auth"]


def request(
    *names: str, user: str = "system:node:n", asker: str = "system:node:n", **spec: Any
) -> dict[str, Any]:
    """Return a request for a certificate with names."""
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:nodes"),
            x509.NameAttribute(NameOID.COMMON_NAME, user),
        ]
    )
    general: list[x509.GeneralName] = []
    for name in names:
        try:
            general.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            general.append(x509.DNSName(name))
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if general:
        builder = builder.add_extension(x509.SubjectAlternativeName(general), critical=False)
    pem = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    text = base64.b64encode(pem.public_bytes(serialization.Encoding.PEM)).decode()
    return {
        "spec": {
            "request": text,
            "signerName": KUBELET_SERVING,
            "usages": _USAGES,
            "username": asker,
            **spec,
        }
    }


@pytest.mark.parametrize(
    ("csr", "node"),
    [
        (request("n", "10.0.0.2"), "n"),
        (request("n", asker="system:node:other"), ""),  # in another's name
        (request("n", asker="kubernetes-admin"), ""),
        (request(), ""),  # without a name
        (request("n", usages=[*_USAGES, "client auth"]), ""),
        (request("n", signerName="kubernetes.io/kube-apiserver-client-kubelet"), ""),
        (request("n", request=base64.b64encode(b"no request").decode()), ""),
    ],
)
def test_who_asks_for_a_certificate_of_their_own(csr: dict[str, Any], node: str) -> None:
    assert node_of(csr) == node


def test_names_that_are_not_a_nodes_own() -> None:
    """Such as the API server's: whoever has taken a node over must not get a certificate for these."""
    assert asks_for_more(request("n", "10.0.0.2"), "n", ["10.0.0.2"]) == []
    csr = request("n", "10.0.0.2", "10.0.0.1", "kubernetes.default.svc")
    assert asks_for_more(csr, "n", ["10.0.0.2"]) == ["kubernetes.default.svc", "10.0.0.1"]
