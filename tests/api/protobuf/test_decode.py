"""Protobuf bodies: what upstream's own encoder wrote, messages made by hand, and noise.

``recorded.jsonl`` holds objects as upstream's API server gave them out, once in protobuf and once in JSON.
"""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import protobuf
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object
from pybernetes.api.schema import Decoder, facts
from pybernetes.api.schema.load import compact, definition_name
from pybernetes.lib import protobuf_wire as wire

RECORDED = [json.loads(line) for line in (Path(__file__).parent / "recorded.jsonl").read_text().splitlines()]
KINDS = {(resource.api_version, resource.kind): resource for resource in builtin()}
NONE = ("", "v1", "")


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: f"{entry['apiVersion']}-{entry['kind']}")
def test_what_upstream_writes(entry: Object) -> None:
    resource = KINDS[entry["apiVersion"], entry["kind"]]
    both_forms = [protobuf.decode(base64.b64decode(entry["protobuf"]), NONE), entry["json"]]
    # The zeros that JSON has are those that defaults fill in.
    decoded = [Decoder().decode(resource.type, value) for value in both_forms]
    if resource.default is not None:
        for obj in decoded:
            resource.default(obj)
    if resource.kind == "CustomResourceDefinition":  # it has zeros that only its controller would fill in
        for obj in decoded:
            obj["status"].pop("acceptedNames")
    assert decoded[0] == decoded[1]


def number(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def field(tag: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return number(tag << 3) + number(value & (2**64 - 1))
    data = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(data)) + data


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    return b"k8s\0" + field(1, field(1, api_version) + field(2, kind)) + field(2, raw)


def test_a_message_made_by_hand() -> None:
    entry = field(1, "key") + field(2, "value")
    meta = field(1, "name") + field(3, "default") + field(11, field(1, "label") + field(2, "x"))
    raw = field(1, meta) + field(2, entry) + field(3, field(1, "bin") + field(2, b"\0\1")) + field(4, 0)
    assert protobuf.decode(envelope("v1", "ConfigMap", raw), NONE) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "name", "namespace": "default", "labels": {"label": "x"}},
        "data": {"key": "value"},
        "binaryData": {"bin": "AAE="},
        "immutable": False,
    }


@pytest.mark.parametrize(
    ("seconds", "nanoseconds", "text"),
    [
        (1_700_000_000, 0, "2023-11-14T22:13:20Z"),
        (-62_135_596_800 + 2, 0, "0001-01-01T00:00:02Z"),
        (0, 0, None),
    ],
)
def test_times(seconds: int, nanoseconds: int, text: str | None) -> None:
    meta = field(1, "x") + field(8, field(1, seconds) + field(2, nanoseconds))
    obj = protobuf.decode(envelope("v1", "ConfigMap", field(1, meta)), NONE)
    assert obj["metadata"].get("creationTimestamp") == text


def test_numbers_and_texts_of_ports() -> None:
    """An int-or-string says which of the two it is; a negative number has ten bytes."""
    for given_, expected in ((field(1, 0) + field(2, 8080), 8080), (field(1, 1) + field(3, "web"), "web"),
                             (field(1, 0) + field(2, -5), -5)):  # fmt: skip
        port = field(3, 80) + field(4, given_)
        service = protobuf.decode(envelope("v1", "Service", field(2, field(1, port))), NONE)
        assert service["spec"]["ports"] == [{"port": 80, "targetPort": expected}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "does not appear to be a protobuf message"),
        (b'{"kind":"Pod"}', "does not appear to be a protobuf message"),
        (envelope("v1", "Nothing", b""), 'no kind "Nothing" is registered for version "v1"'),
        (envelope("v1", "ConfigMap", b"\x0a"), "truncated"),
        (envelope("v1", "ConfigMap", b"\x0a\x05ab"), "truncated"),
        (envelope("v1", "ConfigMap", b"\x0b"), "wire type 3 is not supported"),
        (envelope("v1", "ConfigMap", b"\x02\x00"), "number 0"),
        (envelope("v1", "ConfigMap", b"\xff" * 12), "oversized"),
        (b"k8s\0" + field(3, "gzip"), "content encodings"),
    ],
)
def test_refusals(data: bytes, message: str) -> None:
    """CVE-2021-3121: lengths and numbers beyond what is there."""
    with pytest.raises(protobuf.ProtobufError) as error:
        protobuf.decode(data, NONE)
    assert message in str(error.value)


def _is_object(value: Any) -> None:
    assert isinstance(value, dict) and isinstance(value["kind"], str)


@given(st.data())
def test_noise(data: Any) -> None:
    """Real messages cut off, changed and mixed, and messages of the right shape with the wrong contents."""
    entry = data.draw(st.sampled_from(RECORDED))
    whole = bytearray(base64.b64decode(entry["protobuf"]))
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(4, len(whole) - 1))
        action = data.draw(st.integers(0, 2))
        if action == 0:
            whole[place] = data.draw(st.integers(0, 255))
        elif action == 1 and len(whole) > 60:
            del whole[place : place + data.draw(st.integers(1, 20))]
        else:
            whole[place:place] = data.draw(st.binary(max_size=10))
        if len(whole) < 10:
            break
    try:
        _is_object(protobuf.decode(bytes(whole), NONE))
    except protobuf.ProtobufError:
        pass


_FIELDS = st.one_of(
    st.tuples(st.integers(1, 45), st.integers(0, 2**64 - 1)).map(lambda pair: field(*pair)),
    st.tuples(st.integers(1, 45), st.binary(max_size=12)).map(lambda pair: field(*pair)),
    st.tuples(st.integers(1, 45), st.floats()).map(
        lambda pair: number(pair[0] << 3 | 1) + struct.pack("<d", pair[1])
    ),
)


@given(
    st.sampled_from(sorted(KINDS)),
    st.recursive(_FIELDS, lambda inner: st.tuples(st.integers(1, 45), st.lists(inner, max_size=3)).map(
        lambda pair: field(pair[0], b"".join(pair[1]))), max_leaves=12),
)  # fmt: skip
def test_fields_of_any_number_and_type(kind: tuple[str, str], raw: bytes) -> None:
    try:
        _is_object(protobuf.decode(envelope(*kind, raw), NONE))
    except protobuf.ProtobufError:
        pass


@given(st.integers(0, 2**64 - 1))
def test_numbers_on_the_wire(value: int) -> None:
    assert wire.varint(number(value), 0) == (value, len(number(value)))
    assert wire.signed(value) == (value if value < 2**63 else value - 2**64)


def test_facts() -> None:
    """Field numbers and what is written when empty, for messages that are easy to look up."""
    name = "io.k8s.api.core.v1.ContainerPort"
    assert [(fact.name, fact.number) for fact in facts.message(name)] == [
        ("name", 1), ("hostPort", 2), ("containerPort", 3), ("protocol", 4), ("hostIP", 5)
    ]  # fmt: skip
    assert facts.always(name) == {"containerPort"}
    assert "hostPort" in facts.droppable(name) and "containerPort" not in facts.droppable(name)
    spec = {fact.name: fact for fact in facts.message("io.k8s.api.core.v1.PodSpec")}
    assert spec["terminationGracePeriodSeconds"].pointer and spec["containers"].always
    assert facts.message("io.k8s.api.core.v1.NoSuchMessage") == ()


def test_every_kind_has_its_numbers() -> None:
    """A field that a schema has and the table lacks would be lost from protobuf bodies."""
    missing = []
    for resource in KINDS.values():
        for part in ("metadata", "spec", "status"):
            if part in resource.type.fields and resource.own_type is None:
                missing += _lost(resource, part)
    assert missing == []


def _lost(resource: Any, part: str) -> list[str]:
    node = compact()[definition_name(resource.group, resource.version, resource.kind)]["properties"][part]
    reference = node.get("$ref", "")
    reference = reference.rpartition("/")[2] if isinstance(reference, str) else ""
    numbered: set[str] = set()
    todo = [reference]
    while todo:
        for fact in facts.message(todo.pop()):
            if fact.inline:
                todo.append(fact.inline)
            numbered.add(fact.name)
    wanted = set(compact().get(reference, {}).get("properties", {}))
    return sorted(f"{resource.kind}.{part}.{name}" for name in wanted - numbered)
