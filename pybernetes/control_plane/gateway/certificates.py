"""Certificates in Secrets: only what the proxy takes is handed to it, since one bad key would hold up a whole port."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from pybernetes.api.resource import Object

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateNumbers

TLS_TYPE = "kubernetes.io/tls"
_LEAST_BITS, _MOST_BITS = 2048, 8192
_MOST_EXPONENT = 1 << 33
_CURVES = ("secp256r1", "secp384r1", "secp521r1")


class BadCertificate(Exception):
    """A Secret holds no pair of certificate and key that can be used; the text says why."""


def key_pair(secret: Object) -> tuple[bytes, bytes]:
    """Return the chain and the key of a Secret, written anew: the proxy reads what was checked, and nothing beside it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    if secret.get("type") != TLS_TYPE:
        raise BadCertificate(f"the Secret is not of type {TLS_TYPE}")
    data = secret.get("data") or {}
    try:
        chain, key = (base64.b64decode(data[name], validate=True) for name in ("tls.crt", "tls.key"))
    except (KeyError, binascii.Error, TypeError, ValueError):
        raise BadCertificate("the Secret has no tls.crt and tls.key") from None
    try:
        certificates = x509.load_pem_x509_certificates(chain)
        for entry in certificates:  # of which the library reads these only when it is asked for them
            _ = (
                entry.subject,
                entry.issuer,
                entry.extensions,
                entry.not_valid_before_utc,
                entry.not_valid_after_utc,
            )
        private = serialization.load_pem_private_key(key, None, unsafe_skip_rsa_key_validation=True)
        public = certificates[0].public_key()
        encoding = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        own = private.public_key().public_bytes(*encoding)
        fits = own == public.public_bytes(*encoding)
        # Keys can be written in ways that the proxy does not know.
        usual = own in certificates[0].tbs_certificate_bytes
    except Exception:  # the library has many words for bad input, none of which a user of Kubernetes wants
        raise BadCertificate("tls.crt or tls.key cannot be read") from None
    if not fits:
        raise BadCertificate("tls.key is not the key of tls.crt")
    if not usual:
        raise BadCertificate("the key in tls.crt is written in an unusual form")
    if isinstance(public, rsa.RSAPublicKey):
        if not _LEAST_BITS <= public.key_size <= _MOST_BITS:
            raise BadCertificate(f"an RSA key has {_LEAST_BITS} to {_MOST_BITS} bits, not {public.key_size}")
        if not isinstance(private, rsa.RSAPrivateKey) or not _is_whole(private.private_numbers()):
            raise BadCertificate("the numbers of the RSA key in tls.key do not belong together")
    elif not isinstance(public, ec.EllipticCurvePublicKey) or public.curve.name not in _CURVES:
        raise BadCertificate("the key is neither RSA nor on one of the curves P-256, P-384 and P-521")
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    written = private.private_bytes(pem, form, serialization.NoEncryption())
    return b"".join(entry.public_bytes(pem) for entry in certificates), written


def _is_whole(key: RSAPrivateNumbers) -> bool:
    """Return whether an RSA key is one that the proxy's library takes: it looks at everything but whether primes are prime."""
    p, q, public = key.p, key.q, key.public_numbers
    return (
        p * q == public.n
        and p > 1 < q
        and public.e % 2 == 1
        and 1 < public.e < _MOST_EXPONENT
        and key.d < public.n
        and key.d * public.e % (p - 1) == 1 == key.d * public.e % (q - 1)
        and (key.dmp1, key.dmq1) == (key.d % (p - 1), key.d % (q - 1))
        and key.iqmp < p
        and key.iqmp * q % p == 1
    )
