"""Requests for certificates: approved, signed and cleaned up; and roles made of others."""

from __future__ import annotations

import base64
import datetime
import ipaddress
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from pybernetes.control_plane.controllers import (
    certificatesigningrequest_approving,
    certificatesigningrequest_cleaner,
    certificatesigningrequest_signing,
    clusterrole_aggregation,
)
from pybernetes.control_plane.controllers._certificates import signing_requests
from pybernetes.control_plane.controllers.certificatesigningrequest_cleaner import expires
from pybernetes.control_plane.controllers.certificatesigningrequest_signing import authorities
from pybernetes.lib import flags, rfc3339
from tests.cluster import Cluster, eventually
from tests.control_plane.controllers.managers import controllers, get_or_none

KEY = ec.generate_private_key(ec.SECP256R1())


def request(
    common: str, organization: str = "system:nodes", names: list[x509.GeneralName] | None = None
) -> x509.CertificateSigningRequest:
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organization:
        subject.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(KEY, hashes.SHA256())


def csr(name: str, made: x509.CertificateSigningRequest, signer: str, *usages: str, **spec: Any) -> Object:
    text = base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    return {
        "metadata": {"name": name},
        "spec": {"request": text, "signerName": signer, "usages": list(usages), **spec},
    }


def make_authority(directory: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    certificate_file, key_file = directory / "authority.crt", directory / "authority.key"
    certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return certificate_file, key_file


DNS = x509.DNSName("node")
CLIENT_USAGES = ("digital signature", "key encipherment", "client auth")
SERVING_USAGES = ("digital signature", "server auth")


@pytest.mark.parametrize(
    ("signer", "made", "usages", "fault"),
    [
        (signing_requests.KUBELET_CLIENT, request("system:node:a"), CLIENT_USAGES, ""),
        (signing_requests.KUBELET_CLIENT, request("system:node:a"), ("digital signature", "client auth"), ""),
        (signing_requests.KUBELET_CLIENT, request("a"), CLIENT_USAGES, "subject common name does not begin with system:node:"),
        (signing_requests.KUBELET_CLIENT, request("system:node:a", "x"), CLIENT_USAGES, "subject organization is not system:nodes"),
        (signing_requests.KUBELET_CLIENT, request("system:node:a", names=[DNS]), CLIENT_USAGES, "DNS subjectAltNames are not allowed"),
        (signing_requests.KUBELET_CLIENT, request("system:node:a"), ("client auth",),
         "usages did not match [client auth digital signature key encipherment]"),
        (signing_requests.KUBELET_SERVING, request("system:node:a", names=[DNS]), SERVING_USAGES, ""),
        (signing_requests.KUBELET_SERVING, request("system:node:a"), SERVING_USAGES, "DNS or IP subjectAltName is required"),
        (signing_requests.KUBELET_SERVING, request("system:node:a", names=[DNS, x509.RFC822Name("a@b")]), SERVING_USAGES,
         "Email subjectAltNames are not allowed"),
        (signing_requests.CLIENT, request("a", ""), CLIENT_USAGES, ""),
        (signing_requests.CLIENT, request("a", ""), ("server auth",), "invalid usage for client certificate: server auth"),
        (signing_requests.CLIENT, request("a", ""), ("digital signature",),
         "missing required usage for client certificate: client auth"),
        (signing_requests.LEGACY, request("anything", ""), ("crl sign",), ""),
    ],
)  # fmt: skip
def test_faults(
    signer: str, made: x509.CertificateSigningRequest, usages: tuple[str, ...], fault: str
) -> None:
    assert signing_requests.FAULTS[signer](made, usages) == fault


def test_lifetime() -> None:
    assert signing_requests.lifetime(None, 1000.0) == 1000
    assert signing_requests.lifetime(700, 1000.0) == 700
    assert signing_requests.lifetime(60, 1000.0) == 600
    assert signing_requests.lifetime(5000, 1000.0) == 1000


def test_signature(tmp_path: Path) -> None:
    authority = signing_requests.Authority(*make_authority(tmp_path))
    now = datetime.datetime.now(datetime.UTC).timestamp()
    names: list[x509.GeneralName] = [DNS, x509.IPAddress(ipaddress.ip_address("10.0.0.1"))]
    made = request("system:node:a", names=names)
    signed = x509.load_pem_x509_certificate(signing_requests.sign(authority, made, SERVING_USAGES, 3600, now))
    issuer, _ = authority.load()
    signed.verify_directly_issued_by(issuer)
    assert signed.subject == made.subject
    assert signed.not_valid_before_utc.timestamp() == pytest.approx(now - 300, abs=1)
    assert signed.not_valid_after_utc.timestamp() == pytest.approx(now + 3600, abs=1)
    extensions = signed.extensions
    assert list(extensions.get_extension_for_class(x509.SubjectAlternativeName).value) == names
    assert list(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [
        ExtendedKeyUsageOID.SERVER_AUTH
    ]
    assert extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    # Long ones are backdated as a whole, and none outlives the authority.
    day = x509.load_pem_x509_certificate(signing_requests.sign(authority, made, SERVING_USAGES, 86400, now))
    assert day.not_valid_after_utc.timestamp() == pytest.approx(now + 86400 - 300, abs=1)
    year = x509.load_pem_x509_certificate(
        signing_requests.sign(authority, made, SERVING_USAGES, 365 * 86400, now)
    )
    assert year.not_valid_after_utc == issuer.not_valid_after_utc
    with pytest.raises(ValueError, match="unrecognized usage"):
        signing_requests.sign(authority, made, ("nonsense",), 3600, now)
    with pytest.raises(ValueError, match="expired in the past"):
        signing_requests.sign(authority, made, SERVING_USAGES, 3600, now + 31 * 86400)


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


@pytest.mark.parametrize(
    ("conditions", "certificate", "seconds"),
    [
        ([], "", 86400),
        ([("Approved", 100)], "", 100 + 86400),
        ([("Approved", 100)], "issued", 100 + 3600),
        ([("Denied", 100)], "", 100 + 3600),
        ([("Approved", 100), ("Failed", 200)], "", 200 + 3600),
    ],
)
def test_when_requests_are_not_needed_any_more(
    conditions: list[tuple[str, int]], certificate: str, seconds: int
) -> None:
    begin = rfc3339.parse("2026-01-01T00:00:00Z")
    written = [
        {"type": type_, "lastUpdateTime": rfc3339.seconds(begin + after)} for type_, after in conditions
    ]
    status = {"conditions": written, "certificate": certificate}
    assert (
        expires({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}, "status": status})
        == begin + seconds
    )


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


async def test_roles_made_of_others() -> None:
    async with Cluster() as cluster, controllers(cluster.client, clusterrole_aggregation.CONTROLLER):
        client = cluster.client
        selector = {"matchLabels": {"example.com/all": "true"}}
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]

        def role(name: str, verbs: list[str]) -> Object:
            own = [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]
            return {"metadata": {"name": name, "labels": {"example.com/all": "true"}}, "rules": own}

        await client.create(
            CLUSTER_ROLES,
            {
                "metadata": {"name": "all"},
                "aggregationRule": {"clusterRoleSelectors": [selector]},
                "rules": [],
            },
        )
        await client.create(CLUSTER_ROLES, role("b", ["list"]))
        await client.create(CLUSTER_ROLES, role("a", ["get"]))
        await client.create(CLUSTER_ROLES, role("c", ["get"]))

        async def verbs() -> list[str]:
            obj = await get_or_none(client.get(CLUSTER_ROLES, "all"))
            return [verb for rule in obj.get("rules") or () for verb in rule["verbs"]]

        async def has(expected: list[str]) -> None:
            async def so() -> bool:
                return await verbs() == expected

            await eventually(so)

        await has(["get", "list"])
        await client.delete(CLUSTER_ROLES, "b")
        await has(["get"])
        await client.patch(CLUSTER_ROLES, "all", {"rules": rules * 1 + role("x", ["watch"])["rules"]})
        await has(["get"])
