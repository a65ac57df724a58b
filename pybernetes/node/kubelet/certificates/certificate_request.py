"""Requests certificates of the kubelet: a key, a CertificateSigningRequest, and waiting for its signer."""

from __future__ import annotations

import base64

from pybernetes.api.resource import Object
from pybernetes.client import Client, StatusError
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS
from pybernetes.lib.clock import Clock
from pybernetes.lib.tls import tls
from pybernetes.node.kubelet.config import ConfigurationError

CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"


async def request_certificate(
    client: Client,
    common_name: str,
    organizations: tuple[str, ...],
    signer: str,
    names: tuple[str, ...],
    clock: Clock,
) -> tls.Pair:
    """Request a certificate and wait until it is approved and signed."""
    key, text = signing_request(common_name, organizations, names)
    usages = ["digital signature", "client auth" if signer == CLIENT_SIGNER else "server auth"]
    body: Object = {
        "metadata": {"generateName": "csr-"},
        "spec": {"request": base64.b64encode(text).decode(), "signerName": signer, "usages": usages},
    }
    made = await client.create(CERTIFICATE_SIGNING_REQUESTS, body)
    name = made["metadata"]["name"]
    while True:
        status = made.get("status", {})
        if status.get("certificate"):
            return tls.Pair(base64.b64decode(status["certificate"]), key)
        for condition in status.get("conditions", ()):
            if condition["type"] in ("Denied", "Failed"):
                raise ConfigurationError(
                    f"certificate signing request {name} is not approved, reason: {condition.get('reason')!r}, message: {condition.get('message')!r}"
                )
        watch = client.watch(
            CERTIFICATE_SIGNING_REQUESTS, name=name, resource_version=made["metadata"]["resourceVersion"]
        )
        try:
            async with watch:
                batch = await watch.batch()
                made = next((obj for type_, obj in batch if type_ == "MODIFIED"), made)
        except (StatusError, OSError):
            await clock.sleep(1)
            made = await client.get(CERTIFICATE_SIGNING_REQUESTS, name)


def signing_request(
    common_name: str, organizations: tuple[str, ...], names: tuple[str, ...]
) -> tuple[bytes, bytes]:
    """Return a new key and a request for its certificate, both PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization) for organization in organizations]
    subject = x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if names:
        listed = [tls._general_name(name) for name in names]
        builder = builder.add_extension(x509.SubjectAlternativeName(listed), critical=False)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return private, builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
