"""How much work a body is guessed to be: what is much is done beside the event loop."""

from __future__ import annotations

import json

import pytest

from pybernetes.api import protobuf
from pybernetes.control_plane.apiserver.codec.body_weight import body_weight, object_weight
from pybernetes.lib.event_loop.off_loop import LARGE
from tests.control_plane.apiserver.codec.test_negotiation import request

JSON, YAML, PATCH = "application/json", "application/yaml", "application/json-patch+json"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web", "tier": "front"}},
    "spec": {
        "containers": [
            {
                "name": f"c{number}",
                "image": "registry.example.com/team/web:1.2.3",
                "env": [{"name": "A", "value": "b"}],
            }
            for number in range(20)
        ]
    },
}


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (JSON, b"{}"),
        (JSON, json.dumps(POD).encode()),
        (JSON, b'{"data":{"a":"' + b"x" * 15_000 + b'"}}'),
        (YAML, b"data:\n" + b"".join(b"  key-%d: a value\n" % number for number in range(200))),
        (YAML, b"command: echo * | grep x"),
        (protobuf.MEDIA_TYPE, b"k8s\0" + b"\x12\0" * 1000),
        (PATCH, b'[{"op":"add","path":"/data/a","value":"b"}]'),
    ],
)
def test_what_is_ordinary_is_done_at_once(media: str, body: bytes) -> None:
    assert body_weight(request({b"content-type": media.encode()}, body=body)) <= LARGE


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (JSON, b"x" * (LARGE + 1)),
        (JSON, b"[" + b"{}," * 600 + b"1]"),
        (JSON, b'{"a":[' + b'"",' * 5000 + b"1]}"),
        (YAML, b"[" + b"a," * 5000 + b"]"),
        (YAML, b"- a\n" * 3000),
        (YAML, b"a: &a {b: 1}\nc: {<<: *a}\n"),
        ("application/apply-patch+yaml", b"a: &a [1]\nb: [*a, *a]\n"),
        ("Application/YAML", b"a: &a [1]\nb: [*a, *a]\n"),
        (protobuf.MEDIA_TYPE, b"k8s\0" + b"\x12\0" * 4000),
        (PATCH, b'[{"op":"copy","from":"/data","path":"/data/a"}]'),
        (PATCH, b'[{"op":"c\\u006fpy","from":"/data","path":"/data/a"}]'),
    ],
)
def test_what_stands_for_much_is_done_beside_the_loop(media: str, body: bytes) -> None:
    assert body_weight(request({b"content-type": media.encode()}, body=body)) > LARGE


def test_an_object_weighs_what_its_values_do() -> None:
    assert object_weight(None) == 0
    assert object_weight(POD) <= LARGE
    assert object_weight({"items": [{}] * 600}) > LARGE
