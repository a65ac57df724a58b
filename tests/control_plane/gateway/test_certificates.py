"""Only pairs of certificate and key that the proxy takes are handed to it."""

from __future__ import annotations

import base64

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.certificates import BadCertificate, key_pair
from tests.control_plane.gateway.certificate import certificate

RSA = rsa.generate_private_key(65537, 2048)


def _secret(chain: bytes, key: bytes, type_: str = "kubernetes.io/tls") -> Object:
    data = {"tls.crt": base64.b64encode(chain).decode(), "tls.key": base64.b64encode(key).decode()}
    return {"type": type_, "data": data}


def test_a_pair_is_taken() -> None:
    pair = certificate("a.example")
    assert key_pair(_secret(*pair)) == pair


def test_the_proxy_reads_what_was_checked() -> None:
    chain, key = certificate("a.example")
    more = b"-----BEGIN CERTIFICATE-----\n!!!!\n"
    assert key_pair(_secret(b"before\n" + chain + more, key + b"after")) == (chain, key)


def _rsa(**changes: int) -> bytes:
    """Return an RSA key whose numbers do not belong together, but for those that its certificate shows."""
    numbers = RSA.private_numbers()
    parts = {name: getattr(numbers, name) for name in ("p", "q", "d", "dmp1", "dmq1", "iqmp")}
    wrong = rsa.RSAPrivateNumbers(**{**parts, **changes}, public_numbers=numbers.public_numbers)
    fields = (0, numbers.public_numbers.n, numbers.public_numbers.e, wrong.d, wrong.p, wrong.q, wrong.dmp1,
              wrong.dmq1, wrong.iqmp)  # fmt: skip
    body = b"".join(_der(2, number.to_bytes(number.bit_length() // 8 + 1, "big")) for number in fields)
    encoded = base64.encodebytes(_der(0x30, body))
    return b"-----BEGIN RSA PRIVATE KEY-----\n" + encoded + b"-----END RSA PRIVATE KEY-----\n"


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = (
        bytes([size])
        if size < 128
        else bytes([0x81, size])
        if size < 256
        else b"\x82" + size.to_bytes(2, "big")
    )
    return bytes([tag]) + length + content


def _with_byte(chain: bytes, before: bytes, byte: int) -> bytes:
    """Return a certificate with one other byte, the first after some."""
    der = bytearray(x509.load_pem_x509_certificate(chain).public_bytes(serialization.Encoding.DER))
    der[der.index(before) + len(before)] = byte
    lines = base64.encodebytes(bytes(der))
    return b"-----BEGIN CERTIFICATE-----\n" + lines + b"-----END CERTIFICATE-----\n"


def test_what_another_library_would_refuse_is_refused() -> None:
    """Each of these was taken here and refused by the proxy, which held up everything on the same port."""
    chain, _ = certificate("a.example", RSA)
    numbers = RSA.private_numbers()
    for changes in ({"dmp1": numbers.dmp1 ^ 2}, {"p": numbers.p + 2}, {"d": numbers.d + 2}, {"iqmp": 1}):
        with pytest.raises(BadCertificate, match=r"do not belong together|cannot be read"):
            key_pair(_secret(chain, _rsa(**changes)))
    assert key_pair(_secret(chain, _rsa()))
    good, key = certificate("a.example")
    common_name = b"\x06\x03\x55\x04\x03"
    point = b"\x03\x42\x00"
    for wrong in (_with_byte(good, common_name, 5), _with_byte(good, point, 6)):
        with pytest.raises(BadCertificate, match=r"cannot be read|unusual form"):
            key_pair(_secret(wrong, key))


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
