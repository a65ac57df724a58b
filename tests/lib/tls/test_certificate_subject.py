"""Subjects of certificates: every reading of one gives the same user, whatever is in it more than once."""

from __future__ import annotations

import datetime
import ssl
import tempfile
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pybernetes.control_plane.apiserver.authn.client_certificate import ClientCertificate
from pybernetes.lib.tls.certificate_subject import Subject, of_name, of_peer
from pybernetes.runtime.access_reviews import certificate_user

CN, ORG, OU = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME
UID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")
Attributes = list[tuple[x509.ObjectIdentifier, str]]


def certificate(parts: list[Attributes]) -> x509.Certificate:
    name = x509.Name(
        [
            x509.RelativeDistinguishedName([x509.NameAttribute(oid, value) for oid, value in part])
            for part in parts
        ]
    )
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    return builder.sign(key, hashes.SHA256())


def as_peer(made: x509.Certificate) -> dict[str, object]:
    """Return what getpeercert shows of a certificate."""
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        Path(file.name).write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return ssl._ssl._test_decode_cert(file.name)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([[(CN, "ann")]], Subject("ann")),
        ([[(ORG, "dev")], [(CN, "ann")], [(ORG, "ops")]], Subject("ann", ("dev", "ops"))),
        ([[(CN, "system:node:n1")], [(CN, "ann")]], Subject("ann")),
        ([[(CN, "ann")], [(ORG, "system:masters")], [(CN, "system:node:n1")]], Subject("system:node:n1", ("system:masters",))),
        ([[(CN, "ann"), (ORG, "dev")]], Subject("ann", ("dev",))),
        ([[(OU, "system:masters")], [(CN, "ann")]], Subject("ann")),
        ([[(ORG, "dev,system:masters")], [(CN, "a/b=c")]], Subject("a/b=c", ("dev,system:masters",))),
        ([[(ORG, "dev")]], Subject("", ("dev",))),
        ([[(CN, "ann")], [(UID, "u1")]], Subject("ann", (), ("u1",))),
        ([[(CN, "ann")], [(UID, "u1")], [(UID, "u2")]], Subject("ann", (), ("u1", "u2"))),
        ([[(CN, "ännchen\N{SNOWMAN}")]], Subject("ännchen\N{SNOWMAN}")),
    ],
)  # fmt: skip
def test_all_read_the_same_subject(parts: list[Attributes], expected: Subject) -> None:
    made = certificate(parts)
    shown = as_peer(made)
    assert of_name(made.subject) == of_peer(shown) == expected
    server = ClientCertificate(shown, b"", frozenset()).user
    kubelet = certificate_user(shown)
    if not expected.common_name or len(expected.uids) > 1:
        assert server is None and kubelet is None
        return
    assert server is not None and kubelet is not None
    assert (server.name, server.uid) == (kubelet["username"], kubelet.get("uid", ""))
    assert server.name == expected.common_name
    assert list(server.groups) == kubelet["groups"] == [*expected.organizations, "system:authenticated"]


def test_a_subject_without_anything() -> None:
    assert of_peer({}) == of_name(x509.Name([])) == Subject()
