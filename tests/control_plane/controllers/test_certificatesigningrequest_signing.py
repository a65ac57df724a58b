"""Certificates are signed by the authority of their signer."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS, CLUSTER_ROLE_BINDINGS
from pybernetes.control_plane.controllers import (
    certificatesigningrequest_approving,
    certificatesigningrequest_cleaner,
    certificatesigningrequest_signing,
)
from pybernetes.control_plane.controllers._certificates import signing_requests
from pybernetes.control_plane.controllers.certificatesigningrequest_signing import authorities
from pybernetes.lib import flags
from tests.cluster import Cluster
from tests.control_plane.controllers._certificates.requests import CLIENT_USAGES, make_authority, request
from tests.control_plane.controllers.managers import controllers
from tests.support import eventually


def csr(name: str, made: x509.CertificateSigningRequest, signer: str, *usages: str, **spec: Any) -> Object:
    text = base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    return {
        "metadata": {"name": name},
        "spec": {"request": text, "signerName": signer, "usages": list(usages), **spec},
    }


def test_files_of_signers(tmp_path: Path) -> None:
    certificate, key = map(str, make_authority(tmp_path))
    known = certificatesigningrequest_signing.CONTROLLER.flags
    assert authorities(flags.defaults(known)) == {}
    everybody = flags.defaults(known, cluster_signing_cert_file=certificate, cluster_signing_key_file=key)
    assert len(authorities(everybody)) == 4
    one = {
        "cluster_signing_kubelet_client_cert_file": certificate,
        "cluster_signing_kubelet_client_key_file": key,
    }
    assert list(authorities(flags.defaults(known, **one))) == [signing_requests.KUBELET_CLIENT]
    both = {**one, "cluster_signing_cert_file": certificate, "cluster_signing_key_file": key}
    with pytest.raises(ValueError, match="at the same time"):
        authorities(flags.defaults(known, **both))
    with pytest.raises(ValueError, match="needs a certificate and a key"):
        authorities(flags.defaults(known, cluster_signing_kubelet_client_key_file=key))


async def test_a_kubelet_gets_its_certificate(tmp_path: Path) -> None:
    certificate, key = make_authority(tmp_path)
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(
            CLUSTER_ROLE_BINDINGS,
            {
                "metadata": {"name": "nodes"},
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
                },
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bootstrap"}],
            },
        )
        descriptors = (
            certificatesigningrequest_approving.CONTROLLER,
            certificatesigningrequest_signing.CONTROLLER,
            certificatesigningrequest_cleaner.CONTROLLER,
        )
        options = {"cluster_signing_cert_file": str(certificate), "cluster_signing_key_file": str(key)}
        async with controllers(client, *descriptors, **options):
            from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User

            for user, allowed in (("bootstrap", True), ("somebody", False)):
                wanted = csr(user, request("system:node:a"), signing_requests.KUBELET_CLIENT, *CLIENT_USAGES)
                wanted["spec"] |= {"username": user, "groups": [AUTHENTICATED]}
                maker = cluster.local_client(User(user, groups=("system:masters", AUTHENTICATED)))
                if not allowed:
                    maker = cluster.local_client(User("admin", groups=("system:masters", AUTHENTICATED)))
                    wanted["spec"]["signerName"] = signing_requests.KUBELET_SERVING
                await maker.create(CERTIFICATE_SIGNING_REQUESTS, wanted)

            async def signed() -> Any:
                return (await get(client, "bootstrap"))["status"].get("certificate")

            text = base64.b64decode(await eventually(signed))
            made = x509.load_pem_x509_certificate(text)
            assert made.subject.rfc4514_string() == "O=system:nodes,CN=system:node:a"
            status = (await get(client, "bootstrap"))["status"]
            assert status["conditions"][0]["reason"] == "AutoApproved"
            assert not (await get(client, "somebody"))["status"].get("conditions")
            # Approved by hand, but not what the signer signs.
            other = await get(client, "somebody")
            approved = {"type": "Approved", "status": "True", "reason": "x", "message": "by hand"}
            other["status"] = {"conditions": [approved]}
            await client.update(CERTIFICATE_SIGNING_REQUESTS, other, subresource="approval")

            async def failed() -> Any:
                conditions = (await get(client, "somebody"))["status"]["conditions"]
                return next((condition for condition in conditions if condition["type"] == "Failed"), None)

            assert (await eventually(failed))["message"] == "DNS or IP subjectAltName is required"


async def get(client: Client, name: str) -> Object:
    return await client.get(CERTIFICATE_SIGNING_REQUESTS, name)
