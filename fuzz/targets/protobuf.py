"""Bodies in protobuf: an object of the kind's form, or a refusal."""

from __future__ import annotations

import orjson

from fuzz.engine.target import Target
from pybernetes.api import protobuf


def run(data: bytes) -> None:
    """Decode a body; what comes of it can be written as JSON."""
    try:
        value = protobuf.decode(data, ("", "v1", "Pod"))
    except protobuf.ProtobufError:
        return
    orjson.dumps(value)


def _field(number: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + content


def _envelope(api_version: bytes, kind: bytes, raw: bytes) -> bytes:
    return b"k8s\0" + _field(1, _field(1, api_version) + _field(2, kind)) + _field(2, raw)


_META = _field(1, _field(1, b"name") + _field(3, b"default") + _field(11, _field(1, b"a") + _field(2, b"b")))
_POD = _META + _field(
    2, _field(2, _field(1, b"c") + _field(2, b"image:1") + b"\x28\x01") + _field(3, b"Always") + b"\x20\x1e"
)
_QUANTITY = _field(8, _field(1, _field(1, b"cpu") + _field(2, _field(1, b"100m"))))
TARGET = Target(
    run,
    seeds=(
        _envelope(b"v1", b"Pod", _POD),
        _envelope(b"v1", b"Pod", _META + _field(2, _field(2, _field(1, b"c") + _QUANTITY))),
        _envelope(b"v1", b"ConfigMap", _META + _field(2, _field(1, b"key") + _field(2, b"value"))),
        _envelope(b"apps/v1", b"Deployment", _META + _field(2, b"\x08\x03" + _field(3, _META + _field(2, b"")))),
        _envelope(b"apiextensions.k8s.io/v1", b"CustomResourceDefinition", _META + _field(2, _field(1, b"example.com"))),
        _envelope(b"meta.k8s.io/v1", b"DeleteOptions", b"\x08\x1e"),
    ),
    words=(b"k8s\0", b"\x0a", b"\x12", b"\x1a", b"\x22", b"\x0a\x00", b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", b"\x0b", b"\x0c", b"\x0d"),
    per_byte=20e-6,
)  # fmt: skip
