"""PEM blocks, and what is inside of them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_BLOCK = re.compile(
    rb"^-----BEGIN ([^\n]*?)-----[ \t]*\r?\n(.*?)^-----END \1-----[ \t]*\r?$", re.MULTILINE | re.DOTALL
)
_HEADER = re.compile(rb"[^\n:]+:[^\n]*\n")


class Block(NamedTuple):
    """One block: its type, whether it has headers, and its content."""

    type: str
    headers: bool
    content: bytes


def blocks(text: bytes) -> Iterator[Block]:
    """Return the blocks of a text; what is between them, and blocks that are not Base64, do not count."""
    for match in _BLOCK.finditer(text):
        kind, body = match.group(1).decode(errors="replace"), match.group(2)
        headers = False
        header = _HEADER.match(body)
        while header:
            headers = True
            body = body[header.end() :]
            header = _HEADER.match(body)
        try:
            content = base64.b64decode(b"".join(body.split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        yield Block(kind, headers, content)


def from_base64(text: str) -> bytes:
    """Return the bytes of a field, which was checked when it was decoded."""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""


def certificate(content: bytes) -> Any:
    """Return the X.509 certificate in DER, or None if it is none."""
    from cryptography import x509  # imported late: few requests need it

    try:
        return x509.load_der_x509_certificate(content)
    except ValueError:
        return None


def request(content: bytes) -> Any:
    """Return the PKCS#10 certificate request in DER, or None if it is none."""
    from cryptography import x509

    try:
        return x509.load_der_x509_csr(content)
    except ValueError:
        return None


def signed(csr: Any) -> bool:
    """Return whether the request is signed with the key that it names."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.hashes import SHA1

    try:
        return bool(csr.is_signature_valid) or (
            isinstance(csr.signature_hash_algorithm, SHA1) and _signed_with_sha1(csr)
        )
    except (UnsupportedAlgorithm, ValueError, TypeError):
        return False


def _signed_with_sha1(csr: Any) -> bool:
    """Return whether a request is signed in the old way, which the library calls invalid, and Go's takes in requests."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
    from cryptography.hazmat.primitives.hashes import SHA1

    key = csr.public_key()
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(csr.signature, csr.tbs_certrequest_bytes, padding.PKCS1v15(), SHA1())
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(csr.signature, csr.tbs_certrequest_bytes, ec.ECDSA(SHA1()))
        else:
            return False
    except InvalidSignature:
        return False
    return True


def is_authority(certificate: Any) -> bool:
    """Return whether the certificate may sign others."""
    from cryptography import x509

    try:
        return bool(certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except (x509.ExtensionNotFound, ValueError):
        return False


def signature_problem(csr: Any) -> str:
    """Return the complaint about a request with a wrong signature, in the words of Go's libraries."""
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    try:
        key = csr.public_key()
    except ValueError:
        key = None
    if isinstance(key, rsa.RSAPublicKey):
        return "crypto/rsa: verification error"
    return (
        f"x509: {'ECDSA' if isinstance(key, ec.EllipticCurvePublicKey) else 'Ed25519'} verification failure"
    )
