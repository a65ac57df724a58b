"""Requests for certificates: what they ask for, and signatures."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pybernetes.control_plane.controllers._certificates import signing_requests
from tests.control_plane.controllers._certificates.requests import CLIENT_USAGES, make_authority, request

DNS = x509.DNSName("node")
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


def test_names_that_nobody_judged_are_not_signed(tmp_path: Path) -> None:
    authority = signing_requests.Authority(*make_authority(tmp_path))
    other = x509.DirectoryName(x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters")]))
    identifier = x509.RegisteredID(x509.ObjectIdentifier("1.2.3"))
    made = request("system:node:a", names=[other, DNS, identifier])
    pem = signing_requests.sign(authority, made, SERVING_USAGES, 3600, datetime.datetime.now().timestamp())
    signed = x509.load_pem_x509_certificate(pem)
    assert list(signed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value) == [DNS]
