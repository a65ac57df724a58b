"""Stored bytes, whoever wrote them."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from pybernetes.control_plane.apiserver.storage.resource_version import check, restamp, stamp

RECORDED = Path(__file__).parents[3] / "api" / "protobuf" / "recorded.jsonl"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b'{"kind":"A","apiVersion":"v1","metadata":{"name":"a"}}',
         b'{"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"}}'),
        (b'{"kind":"A","apiVersion":"v1","metadata":{},"b":{"metadata":{"c":1}}}\n',
         b'{"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7"},"b":{"metadata":{"c":1}}}'),
        (b'{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1beta2","metadata":{"name":"a"}}\n',
         b'{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/v1","metadata":{"resourceVersion":"7","name":"a"}}'),
        (b'{"kind":"DeviceTaintRule","apiVersion":"example.com/v1beta2","metadata":{"name":"a"}}',
         b'{"kind":"DeviceTaintRule","apiVersion":"example.com/v1beta2","metadata":{"resourceVersion":"7","name":"a"}}'),
    ],
)  # fmt: skip
def test_stamp(value: bytes, expected: bytes) -> None:
    assert stamp(value, 7) == expected


@pytest.mark.parametrize("value", [b"nothing that anybody knows", b"k8s\0nonsense", b"", b'["metadata":{}]'])
def test_what_is_no_object_is_refused(value: bytes) -> None:
    with pytest.raises(ValueError, match=r"no object|wire type"):
        stamp(value, 7)


@pytest.mark.parametrize(
    "value",
    [b"[]", b'{"kind":"A"', b'{"kind":"A","apiVersion":1,"metadata":{}}', b'{"kind":"A","apiVersion":"v1"}'],
)
def test_check(value: bytes) -> None:
    check(b'{"kind":"A","apiVersion":"v1","metadata":{}}')
    with pytest.raises(ValueError):
        check(value)


def test_restamp() -> None:
    value = stamp(b'{"kind":"A","apiVersion":"v1","metadata":{"name":"a"}}', 7)
    assert restamp(value, 7, 9) == value.replace(b'"7"', b'"9"')


def test_protobuf_becomes_json() -> None:
    entries = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    for entry in entries:
        value = stamp(base64.b64decode(entry["protobuf"]), 7)
        head = f'{{"kind":"{entry["kind"]}","apiVersion":"{entry["apiVersion"]}","metadata":{{"resourceVersion":"7",'
        assert value.startswith(head.encode()), value[:200]
        assert json.loads(value)["metadata"]["uid"] == entry["json"]["metadata"]["uid"]
