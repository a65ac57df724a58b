"""Keys, requests and certificates for tests, made when they are first asked for."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@lru_cache
def key(kind: str = "P256") -> Any:
    """Return a private key."""
    match kind:
        case "P256":
            return ec.generate_private_key(ec.SECP256R1())
        case "P224":
            return ec.generate_private_key(ec.SECP224R1())
        case "ed25519":
            return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(65537, int(kind.removeprefix("RSA")))


def encoded(content: bytes) -> str:
    """Return bytes as JSON holds them."""
    return base64.b64encode(content).decode()


@lru_cache
def request(kind: str = "P256", form: Encoding = Encoding.PEM) -> bytes:
    """Return a signed request."""
    algorithm = None if kind == "ed25519" else hashes.SHA256()
    return (
        x509.CertificateSigningRequestBuilder()
        .subject_name(NAME)
        .sign(key(kind), algorithm)
        .public_bytes(form)
    )


def broken(content: bytes) -> bytes:
    """Return a request in DER whose signature is wrong."""
    return content[:-1] + bytes([content[-1] ^ 1])


def pem(kind: str, content: bytes, header: str = "") -> str:
    """Return a PEM block."""
    return f"-----BEGIN {kind}-----\n{header}{encoded(content)}\n-----END {kind}-----\n"


@lru_cache
def certificate(authority: bool | None = True, lifetime: int = 24) -> str:
    """Return a certificate for the first key that is valid from START on for some hours."""
    builder = (
        x509.CertificateBuilder().subject_name(NAME).issuer_name(NAME).public_key(key("P256").public_key())
    )
    builder = (
        builder.serial_number(5).not_valid_before(START).not_valid_after(START + timedelta(hours=lifetime))
    )
    if authority is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca=authority, path_length=None), True)
    return builder.sign(key("P256"), hashes.SHA256()).public_bytes(Encoding.PEM).decode()
