"""The key that a pod's certificate is asked for, and the proof that the node has it."""

from __future__ import annotations

from typing import Any

from pybernetes.api.certificates import _pem
from pybernetes.api.field import OMIT, Errors, Path

_REQUEST = Path("spec") / "stubPKCS10Request"
_LARGEST = 10 * 1024
_CURVES = {"secp256r1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521", "secp224r1": "P-224"}


def validate_request(content: bytes, errors: Errors) -> None:
    """Check a PKCS#10 request: its key, and that it is signed with it."""
    if len(content) > _LARGEST:
        errors.too_long(_REQUEST, _LARGEST)
        return
    csr = _pem.request(content)
    if csr is None:
        errors.invalid(_REQUEST, OMIT, "must be a valid PKCS#10 CSR")
        return
    value, problem = _weakness(csr)
    if problem:
        errors.invalid(_REQUEST, value, problem)
    elif not _pem.signed(csr):
        errors.invalid(_REQUEST, OMIT, "invalid signature")


def _weakness(csr: Any) -> tuple[Any, str]:
    """Return the value to show and what is wrong with the key, or no text."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    try:
        key = csr.public_key()
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, ed25519.Ed25519PublicKey):
        return OMIT, ""
    if isinstance(key, ec.EllipticCurvePublicKey):
        name = _CURVES.get(key.curve.name, key.curve.name)
        good = name in ("P-256", "P-384", "P-521")
        return f"curve {name}", "" if good else "elliptic public keys must use curve P256, P384, or P521"
    if isinstance(key, rsa.RSAPublicKey):
        good = key.key_size in (3072, 4096)
        return f"{key.key_size}-bit modulus", "" if good else "RSA keys must have modulus size 3072 or 4096"
    return OMIT, "unknown public key type; supported types are Ed25519, ECDSA, and RSA"
