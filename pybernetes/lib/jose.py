"""Signed JSON Web Tokens (RFC 7515, 7518, 7519) and the keys behind them, in the few forms that are safe.

The algorithm follows from the key, never from the token: what the header says must agree. ``cryptography`` is
imported late, as in ``tls``.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

_PART = re.compile(rb"[A-Za-z0-9_-]+\Z")
_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
# The curves, with the size of each of the two numbers of a signature.
_CURVES = {"secp256r1": ("ES256", "P-256", 32), "secp384r1": ("ES384", "P-384", 48),
           "secp521r1": ("ES512", "P-521", 66)}  # fmt: skip


class JoseError(ValueError):
    """A token or key that cannot be used; the text never holds any of it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A token taken apart. Nothing in it may be believed before its signature has been checked."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key; ``check`` raises InvalidSignature."""

    id: str
    algorithm: str
    jwk: Mapping[str, str]
    check: Callable[[bytes, bytes], None]


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key."""

    public: VerifyingKey
    sign: Callable[[bytes], bytes]


def encode(data: bytes) -> str:
    """Base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: bytes) -> bytes:
    """The bytes of such a text; JoseError if it is anything else."""
    if (text and not _PART.match(text)) or len(text) % 4 == 1:
        raise JoseError("illegal base64 data")
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


def parse(token: bytes) -> Parsed:
    """Takes a compact token apart; JoseError if it is none."""
    parts = token.split(b".")
    if len(parts) != 3:
        raise JoseError("compact JWS format must have three parts")
    header, claims = _object(decode(parts[0])), _object(decode(parts[1]))
    return Parsed(header, claims, parts[0] + b"." + parts[1], decode(parts[2]))


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise JoseError("malformed JSON") from None
    if not isinstance(value, dict):
        raise JoseError("not a JSON object")
    return value


def verify(token: Parsed, keys: Iterable[VerifyingKey]) -> VerifyingKey:
    """The key that signed the token; JoseError if none of these did."""
    from cryptography.exceptions import InvalidSignature

    if "crit" in token.header:
        raise JoseError("unsupported critical header")
    for key in keys:
        if token.header.get("alg") != key.algorithm:
            continue
        try:
            key.check(token.signature, token.signed)
        except InvalidSignature:
            continue
        return key
    raise JoseError("error in cryptographic primitive")


def sign(key: SigningKey, claims: Mapping[str, Any]) -> str:
    """A compact token."""
    header = orjson.dumps({"alg": key.public.algorithm, "kid": key.public.id})
    body = orjson.dumps(claims, option=orjson.OPT_SORT_KEYS)
    signed = f"{encode(header)}.{encode(body)}"
    return f"{signed}.{encode(key.sign(signed.encode()))}"


# -- keys ------------------------------------------------------------------------------------------------


def read_public_keys(path: Path) -> list[VerifyingKey]:
    """Every key of a PEM file, public, private or in a certificate; ValueError if it has none."""
    found = [verifying_key(_public(block.group(0))) for block in _PEM.finditer(path.read_bytes())
             if block.group(1) != b"EC PARAMETERS"]  # fmt: skip
    if not found:
        raise ValueError(f"{path}: data does not contain any valid RSA or ECDSA public keys")
    return found


def read_private_key(path: Path) -> SigningKey:
    """The private key of a PEM file; ValueError if it has none."""
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
    """A new ECDSA key in PEM: it is made and it signs many times faster than an RSA key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def public_pem(private: bytes) -> bytes:
    """The public half of a private key in PEM."""
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(private, None).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, form)


def key_id(key: PublicKeyTypes) -> str:
    """The name of a key: the hash of its public half."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return encode(hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest())


def verifying_key(key: PublicKeyTypes) -> VerifyingKey:
    """A public key made ready; ValueError if it is neither RSA nor ECDSA on a curve that we know."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

    name = key_id(key)
    if isinstance(key, rsa.RSAPublicKey):
        rsa_key, scheme, sha256 = key, padding.PKCS1v15(), hashes.SHA256()
        numbers = key.public_numbers()
        jwk = {"use": "sig", "kty": "RSA", "kid": name, "alg": "RS256", "n": _number(numbers.n),
               "e": _number(numbers.e)}  # fmt: skip
        return VerifyingKey(
            name, "RS256", jwk, lambda signature, data: rsa_key.verify(signature, data, scheme, sha256)
        )
    if isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in _CURVES:
        ec_key, (algorithm, curve, size) = key, _CURVES[key.curve.name]
        method = ec.ECDSA(_hash(algorithm))

        def check(signature: bytes, data: bytes) -> None:
            if len(signature) != 2 * size:
                raise InvalidSignature
            pair = (int.from_bytes(signature[:size], "big"), int.from_bytes(signature[size:], "big"))
            ec_key.verify(utils.encode_dss_signature(*pair), data, method)

        point = key.public_numbers()
        jwk = {"use": "sig", "kty": "EC", "kid": name, "crv": curve, "alg": algorithm,
               "x": _number(point.x, size), "y": _number(point.y, size)}  # fmt: skip
        return VerifyingKey(name, algorithm, jwk, check)
    raise ValueError("only RSA keys and ECDSA keys on the curves P-256, P-384 and P-521 are supported")


def signing_key(key: PrivateKeyTypes) -> SigningKey:
    """A private key made ready."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

    public = verifying_key(key.public_key())
    if isinstance(key, rsa.RSAPrivateKey):
        rsa_key = key
        return SigningKey(public, lambda data: rsa_key.sign(data, padding.PKCS1v15(), hashes.SHA256()))
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    ec_key, size, method = key, _CURVES[key.curve.name][2], ec.ECDSA(_hash(public.algorithm))

    def sign_data(data: bytes) -> bytes:
        first, second = utils.decode_dss_signature(ec_key.sign(data, method))
        return first.to_bytes(size, "big") + second.to_bytes(size, "big")

    return SigningKey(public, sign_data)


def _hash(algorithm: str) -> Any:
    from cryptography.hazmat.primitives import hashes

    return {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}[algorithm[2:]]


def _number(value: int, size: int = 0) -> str:
    return encode(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))
