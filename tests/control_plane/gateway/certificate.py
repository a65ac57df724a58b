"""Certificates for tests."""

from __future__ import annotations

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def certificate(host: str, key: object = None) -> tuple[bytes, bytes]:
    """Return a certificate that signs itself, and its key, in PEM."""
    private: ec.EllipticCurvePrivateKey = key or ec.generate_private_key(ec.SECP256R1())  # type: ignore[assignment]
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    hour = datetime.timedelta(hours=1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(private.public_key())
    builder = (
        builder.serial_number(x509.random_serial_number())
        .not_valid_before(now - hour)
        .not_valid_after(now + hour)
    )
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    algorithm = hashes.SHA256() if hasattr(private, "curve") or hasattr(private, "key_size") else None
    signed = builder.sign(private, algorithm)
    pem = serialization.Encoding.PEM
    text = private.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return signed.public_bytes(pem), text
