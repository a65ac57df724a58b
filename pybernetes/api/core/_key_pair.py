"""Whether a certificate and a private key belong together, in the words of Go's TLS library."""

from __future__ import annotations

import re
from typing import Any

_BLOCK = re.compile(rb"-----BEGIN ([^-\n]+)-----\r?\n.*?-----END \1-----", re.DOTALL)


def key_pair_problem(certificate: bytes, key: bytes) -> str:
    """Return what is wrong with the pair, or nothing."""
    problem, block = _find(certificate, "certificate", lambda kind: kind == b"CERTIFICATE")
    if problem:
        return problem
    problem, key_block = _find(
        key, "key", lambda kind: kind == b"PRIVATE KEY" or kind.endswith(b" PRIVATE KEY")
    )
    if problem:
        return problem
    # Costs a tenth of a second once, and is needed for this one type of secret only.
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    try:
        public: Any = x509.load_pem_x509_certificate(block + b"\n").public_key()
    except (ValueError, UnsupportedAlgorithm):
        return "x509: malformed certificate"
    try:
        private: Any = serialization.load_pem_private_key(key_block + b"\n", None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "tls: failed to parse private key"
    own = private.public_key()
    if type(own) is not type(public):
        return "tls: private key type does not match public key type"
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return (
        ""
        if own.public_bytes(*form) == public.public_bytes(*form)
        else "tls: private key does not match public key"
    )


def _find(content: bytes, noun: str, wanted: Any) -> tuple[str, bytes]:
    """Return the first block of the wanted kind, or what is wrong."""
    skipped = []
    for match in _BLOCK.finditer(content):
        if wanted(match.group(1)):
            return "", match.group(0)
        skipped.append(match.group(1).decode(errors="replace"))
    if not skipped:
        return f"tls: failed to find any PEM data in {noun} input", b""
    if noun == "certificate" and len(skipped) == 1 and skipped[0].endswith("PRIVATE KEY"):
        return (
            "tls: failed to find certificate PEM data in certificate input, "
            "but did find a private key; PEM inputs may have been switched"
        ), b""
    if noun == "key" and len(skipped) == 1 and skipped[0] == "CERTIFICATE":
        return "tls: found a certificate rather than a key in the PEM for the private key", b""
    wanted_text = (
        '"CERTIFICATE" PEM block' if noun == "certificate" else 'PEM block with type ending in "PRIVATE KEY"'
    )
    listed = " ".join(skipped)
    text = f"tls: failed to find {wanted_text} in {noun} input after skipping PEM blocks of the following types: [{listed}]"
    return text, b""
