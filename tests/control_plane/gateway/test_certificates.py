"""Only pairs of certificate and key that the proxy takes are handed to it."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.certificates import BadCertificate, key_pair
from tests.control_plane.gateway.certificate import certificate


def _secret(chain: bytes, key: bytes, type_: str = "kubernetes.io/tls") -> Object:
    data = {"tls.crt": base64.b64encode(chain).decode(), "tls.key": base64.b64encode(key).decode()}
    return {"type": type_, "data": data}


def test_a_pair_is_taken() -> None:
    pair = certificate("a.example")
    assert key_pair(_secret(*pair)) == pair


def test_what_is_refused() -> None:
    good, other = certificate("a.example"), certificate("b.example")
    refused = [
        (_secret(*good, "Opaque"), "not of type"),
        ({"type": "kubernetes.io/tls"}, "no tls.crt"),
        ({"type": "kubernetes.io/tls", "data": {"tls.crt": "!", "tls.key": "!"}}, "no tls.crt"),
        (_secret(b"nonsense", good[1]), "cannot be read"),
        (_secret(good[0], b"nonsense"), "cannot be read"),
        (_secret(good[0], other[1]), "not the key"),
        (_secret(*certificate("a.example", ec.generate_private_key(ec.SECP256K1()))), "neither RSA"),
        (_secret(*certificate("a.example", rsa.generate_private_key(65537, 1024))), "bits, not 1024"),
    ]
    for secret, words in refused:
        with pytest.raises(BadCertificate, match=words):
            key_pair(secret)
