"""What a body is guessed to take in memory."""

from __future__ import annotations

import orjson
import pytest

from pybernetes.control_plane.apiserver.codec.decoded_size import decoded_size
from tests.control_plane.apiserver.codec.test_negotiation import request

MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    ("media", "body", "least", "most"),
    [
        ("application/json", orjson.dumps({"data": {"a": "x" * MEGABYTE}}), 4, 5),
        ("application/json", b"[" + b"{}," * MEGABYTE + b"1]", 150, 300),
        ("application/json", orjson.dumps({str(number): "" for number in range(100_000)}), 40, 80),
        ("application/json", orjson.dumps(list(range(300_000))), 52, 60),
        ("application/yaml", b"- a\n" * MEGABYTE, 100, 200),
        ("application/vnd.kubernetes.protobuf", b"\x12\0" * MEGABYTE, 100, 200),
    ],
)
def test_sizes(media: str, body: bytes, least: int, most: int) -> None:
    size = decoded_size(request({b"content-type": media.encode()}, body=body))
    assert least * MEGABYTE <= size <= most * MEGABYTE
