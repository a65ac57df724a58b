"""Signed JSON Web Tokens, and the keys behind them in files.

PyJWT signs and verifies. What is ours is the choice of the few forms that are safe: the algorithm follows from the key,
never from the token. ``jwt`` and ``cryptography`` are imported late, as in ``tls``.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

_BASE64_URL = re.compile(rb"[A-Za-z0-9_-]*\Z")
_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
# Anybody may send a token, and reading one takes time; ours have about a kilobyte.
_LONGEST_TOKEN = 64 * 1024


class JoseError(ValueError):
    """A token or key that cannot be used; the text never holds any of it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A token taken apart. Nothing in it may be believed before its signature has been checked."""

    token: bytes
    header: Mapping[str, Any]
    claims: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key, by its name, with the only algorithm that it is used with and its form in key sets."""

    id: str
    algorithm: str
    jwk: Mapping[str, str]
    key: RSAPublicKey | EllipticCurvePublicKey


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key."""

    public: VerifyingKey
    key: RSAPrivateKey | EllipticCurvePrivateKey


def encode(data: bytes) -> str:
    """Return bytes as base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: bytes) -> bytes:
    """Return the bytes of base64 for URLs without padding; JoseError if the text is anything else."""
    if not _BASE64_URL.match(text) or len(text) % 4 == 1:
        raise JoseError("illegal base64 data")
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


def parse(token: bytes) -> Parsed:
    """Take a compact token apart; JoseError if it is none."""
    import jwt

    if len(token) > _LONGEST_TOKEN:
        raise JoseError("the token is too long")
    try:
        parts = jwt.api_jws.PyJWS().decode_complete(token, options={"verify_signature": False})
        claims = orjson.loads(parts["payload"])
    except (jwt.InvalidTokenError, ValueError) as error:
        critical = isinstance(error, jwt.InvalidTokenError) and any(
            name in str(error) for name in ("crit", "b64")
        )
        raise JoseError("unsupported critical header" if critical else "malformed token") from None
    if not isinstance(claims, dict):
        raise JoseError("not a JSON object")
    return Parsed(token, parts["header"], claims)


def verify(token: Parsed, keys: Iterable[VerifyingKey]) -> VerifyingKey:
    """Return the key that signed the token; JoseError if none of these did."""
    import jwt

    if "crit" in token.header:
        raise JoseError("unsupported critical header")
    for key in keys:
        try:
            jwt.api_jws.PyJWS([key.algorithm]).decode(token.token, key.key, [key.algorithm])
        except jwt.InvalidTokenError:
            continue
        return key
    raise JoseError("error in cryptographic primitive")


def sign(key: SigningKey, claims: Mapping[str, Any]) -> str:
    """Return a compact token."""
    import jwt

    body = orjson.dumps(claims, option=orjson.OPT_SORT_KEYS)
    algorithm = key.public.algorithm
    return jwt.api_jws.PyJWS([algorithm]).encode(
        body, key.key, algorithm, {"kid": key.public.id, "typ": None}
    )


# -- keys ------------------------------------------------------------------------------------------------


def read_public_keys(path: Path) -> list[VerifyingKey]:
    """Return every key of a PEM file, public, private or in a certificate; ValueError if it has none."""
    keys = [verifying_key(_public(block.group(0))) for block in _PEM.finditer(path.read_bytes())
            if block.group(1) != b"EC PARAMETERS"]  # fmt: skip
    if not keys:
        raise ValueError(f"{path}: data does not contain any valid RSA or ECDSA public keys")
    return keys


def read_private_key(path: Path) -> SigningKey:
    """Return the private key of a PEM file; ValueError if it has none."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    for block in _PEM.finditer(path.read_bytes()):
        if block.group(1).endswith(b"PRIVATE KEY"):
            return signing_key(load_pem_private_key(block.group(0), None))
    raise ValueError(f"{path}: data does not contain a valid RSA or ECDSA private key")


def _public(pem: bytes) -> PublicKeyTypes:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    if b"PRIVATE KEY-----" in pem:
        return serialization.load_pem_private_key(pem, None).public_key()
    if pem.startswith(b"-----BEGIN CERTIFICATE-----"):
        return x509.load_pem_x509_certificate(pem).public_key()
    return serialization.load_pem_public_key(pem)


def new_private_key() -> bytes:
    """Return a new ECDSA key in PEM: it is made and it signs many times faster than an RSA key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def public_pem(private: bytes) -> bytes:
    """Return the public half of a private key in PEM."""
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(private, None).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, form)


def key_id(key: PublicKeyTypes) -> str:
    """Return the name of a key: the hash of its public half."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return encode(hashlib.sha256(der).digest())


def verifying_key(key: PublicKeyTypes) -> VerifyingKey:
    """Make a public key ready; ValueError if it is neither RSA nor ECDSA on a curve that we know."""
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from jwt.algorithms import ECAlgorithm, RSAAlgorithm

    name = key_id(key)
    if isinstance(key, rsa.RSAPublicKey):
        return VerifyingKey(name, "RS256", _jwk(RSAAlgorithm.to_jwk(key, as_dict=True), name, "RS256"), key)
    if isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in _CURVES:
        algorithm = _CURVES[key.curve.name]
        return VerifyingKey(
            name, algorithm, _jwk(ECAlgorithm.to_jwk(key, as_dict=True), name, algorithm), key
        )
    raise ValueError("only RSA keys and ECDSA keys on the curves P-256, P-384 and P-521 are supported")


def _jwk(numbers: Mapping[str, Any], name: str, algorithm: str) -> dict[str, str]:
    """Return a public key as key sets have it."""
    own = {key: value for key, value in numbers.items() if key in ("kty", "crv", "n", "e", "x", "y")}
    return {"use": "sig", "kid": name, "alg": algorithm, **own}


def signing_key(key: PrivateKeyTypes) -> SigningKey:
    """Make a private key ready; ValueError if it is neither RSA nor ECDSA on a curve that we know."""
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    public = verifying_key(key.public_key())
    assert isinstance(key, (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey))
    return SigningKey(public, key)
