"""Certificates in Secrets: only what the proxy takes is handed to it, since one bad key would hold up a whole port."""

from __future__ import annotations

import base64
import binascii

from pybernetes.api.resource import Object

TLS_TYPE = "kubernetes.io/tls"
_LEAST_BITS, _MOST_BITS = 2048, 8192
_CURVES = ("secp256r1", "secp384r1", "secp521r1")


class BadCertificate(Exception):
    """A Secret holds no pair of certificate and key that can be used; the text says why."""


def key_pair(secret: Object) -> tuple[bytes, bytes]:
    """Return the chain and the key of a Secret."""
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
        certificate = x509.load_pem_x509_certificates(chain)[0]
        private = serialization.load_pem_private_key(key, None, unsafe_skip_rsa_key_validation=True)
        public = certificate.public_key()
        encoding = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        fits = private.public_key().public_bytes(*encoding) == public.public_bytes(*encoding)
    except Exception:  # the library has many words for bad input, none of which a user of Kubernetes wants
        raise BadCertificate("tls.crt or tls.key cannot be read") from None
    if not fits:
        raise BadCertificate("tls.key is not the key of tls.crt")
    if isinstance(public, rsa.RSAPublicKey):
        if not _LEAST_BITS <= public.key_size <= _MOST_BITS:
            raise BadCertificate(f"an RSA key has {_LEAST_BITS} to {_MOST_BITS} bits, not {public.key_size}")
    elif not isinstance(public, ec.EllipticCurvePublicKey) or public.curve.name not in _CURVES:
        raise BadCertificate("the key is neither RSA nor on one of the curves P-256, P-384 and P-521")
    return chain, key
