"""Certificates of pods: requested by a PodCertificateRequest, and again when their signer says so."""

from __future__ import annotations

import asyncio
import base64
import random
import re
from collections.abc import Callable

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import POD_CERTIFICATE_REQUESTS, SERVICE_ACCOUNTS
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.kinds._token import owner_and_mode
from pybernetes.node.kubelet.volumes.volume_inputs import Credential, CredentialKey, PendingCertificate
from pybernetes.node.kubelet.volumes.volume_kind import VolumeFile, VolumeRequest

_KEYS: dict[str, Callable[[], CertificateIssuerPrivateKeyTypes]] = {
    "RSA3072": lambda: rsa.generate_private_key(65537, 3072),
    "RSA4096": lambda: rsa.generate_private_key(65537, 4096),
    "ECDSAP256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ECDSAP384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "ECDSAP521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "ED25519": ed25519.Ed25519PrivateKey.generate,
}
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_PATIENCE = 10.0  # seconds to wait for the signer; then the volume is tried again, with the same request
_SPREAD = 300.0  # not all pods of a node at once


async def certificate(request: VolumeRequest, source: Object, mode: int) -> dict[str, VolumeFile]:
    """Return the files of a key and its certificate chain."""
    inputs = request.inputs
    if inputs.client is None:
        raise VolumeError("this kubelet has no API server to ask for a certificate")
    paths = tuple(
        source.get(field, "") for field in ("credentialBundlePath", "keyPath", "certificateChainPath")
    )
    credential_key = (request.pod["metadata"]["uid"], request.name, *paths)
    kept = inputs.credentials.get(credential_key)
    if kept is None or inputs.clock.now() >= kept.renew_at:
        try:
            kept = inputs.credentials[credential_key] = await _issued(
                request, inputs.client, source, credential_key
            )
        except (StatusError, OSError, TimeoutError) as error:
            if kept is None:
                why = "its signer has not answered yet" if isinstance(error, TimeoutError) else str(error)
                raise VolumeError(f"no certificate from {source['signerName']}: {why}") from None
    key, chain = kept.parts
    owner, mode = owner_and_mode(request, mode)
    contents = zip(paths, (key + chain, key, chain), strict=True)
    return {path: VolumeFile(data, mode, owner) for path, data in contents if path}


async def _issued(
    request: VolumeRequest, client: Client, source: Object, credential_key: CredentialKey
) -> Credential:
    """Return the issued key and chain; raise TimeoutError if the signer does not answer."""
    inputs, namespace = request.inputs, request.namespace
    pending = inputs.pending.get(credential_key)
    if pending is None:
        pending = inputs.pending[credential_key] = await _ask(request, client, source)
    if not pending.refusal:
        node = inputs.node()["metadata"]["name"]
        async with asyncio.timeout(_PATIENCE):
            outcome = await _outcome(client, namespace, pending.name, node)
        if outcome is None:
            del inputs.pending[credential_key]
            raise VolumeError(
                f"PodCertificateRequest {namespace}/{pending.name} appears to have been deleted"
            )
        condition, status = outcome
        if condition["type"] == "Issued":
            del inputs.pending[credential_key]
            chain = "".join(f"{certificate}\n" for certificate in _PEM.findall(status["certificateChain"]))
            due = rfc3339.parse(status["beginRefreshAt"]) + random.random() * _SPREAD
            return Credential((pending.key, chain.encode()), due, rfc3339.parse(status["notAfter"]))
        verb = "was denied" if condition["type"] == "Denied" else "failed"
        pending.refusal = (
            f"PodCertificateRequest {namespace}/{pending.name} {verb}, "
            f'reason="{condition.get("reason", "")}", message="{condition.get("message", "")}"'
        )
    raise VolumeError(pending.refusal, "Failed")


async def _ask(request: VolumeRequest, client: Client, source: Object) -> PendingCertificate:
    """Create the request, with a new key."""
    meta, node = request.pod["metadata"], request.inputs.node()["metadata"]
    account = request.pod["spec"].get("serviceAccountName") or "default"
    private, stub = await asyncio.to_thread(_key_and_proof, source["keyType"])
    spec = {
        "signerName": source["signerName"],
        "podName": meta["name"],
        "podUID": meta["uid"],
        "serviceAccountName": account,
        "serviceAccountUID": (await client.get(SERVICE_ACCOUNTS, account, request.namespace))["metadata"][
            "uid"
        ],
        "nodeName": node["name"],
        "nodeUID": node["uid"],
        "stubPKCS10Request": base64.b64encode(stub).decode(),
    }
    for field, given in (
        ("maxExpirationSeconds", "maxExpirationSeconds"),
        ("unverifiedUserAnnotations", "userAnnotations"),
    ):
        if given in source:
            spec[field] = source[given]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
    body = {"metadata": {"generateName": "req-", "ownerReferences": [owner]}, "spec": spec}
    made = await client.create(POD_CERTIFICATE_REQUESTS, body, request.namespace)
    return PendingCertificate(made["metadata"]["name"], private)


async def _outcome(client: Client, namespace: str, name: str, node: str) -> tuple[Object, Object] | None:
    """Return the condition that ends a request, and its status; None if the request is gone."""
    mine = f"spec.nodeName={node}"  # a node may watch no others
    while True:
        watch = client.watch(POD_CERTIFICATE_REQUESTS, namespace, name=name, fields=mine, initial=True)
        seen = False
        async with watch as events:
            async for event in events:
                if event.type == "DELETED" or (event.type == "BOOKMARK" and not seen):
                    return None
                seen = True
                status = event.object.get("status") or {}
                for condition in status.get("conditions") or ():
                    if condition["type"] in ("Issued", "Denied", "Failed"):
                        return condition, status


def _key_and_proof(kind: str) -> tuple[bytes, bytes]:
    """Return a new key in PEM, and an empty certificate request that proves its possession."""
    if kind not in _KEYS:
        raise VolumeError(f'unknown key type "{kind}"')
    key = _KEYS[kind]()
    digest = None if kind == "ED25519" else hashes.SHA256()
    stub = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, digest)
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return text, stub.public_bytes(serialization.Encoding.DER)
