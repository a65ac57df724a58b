"""Objects as protobuf: what upstream wrote byte for byte, and any object there and back."""

from __future__ import annotations

import base64
import struct
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pybernetes.api import protobuf
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Decoder, has_message
from pybernetes.lib import protobuf_wire as wire
from tests import strategies
from tests.api.protobuf.test_decode import NONE, RECORDED, envelope, field

KINDS = builtin()


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: f"{entry['apiVersion']}-{entry['kind']}")
def test_what_upstream_writes(entry: Object) -> None:
    expected = base64.b64decode(entry["protobuf"])
    if entry["kind"] == "ControllerRevision":  # its data is JSON as the client wrote it, here with a newline
        assert protobuf.decode(protobuf.encode(entry["json"]), NONE) == protobuf.decode(expected, NONE)
    else:
        assert protobuf.encode(entry["json"]) == expected


def test_every_kind_has_a_message() -> None:
    assert [kind.kind for kind in KINDS if not has_message(kind.group, kind.version, kind.kind)] == []


@pytest.mark.parametrize("resource", KINDS, ids=lambda resource: f"{resource.kind}-{resource.version}")
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_there_and_back(resource: Resource, data: Any) -> None:
    """What Go cannot tell from its zero is gone in both."""
    obj = data.draw(strategies.kind(resource))
    obj = Decoder().decode(resource.type, obj)
    for claim in (obj.get("spec") or {}).get("volumeClaimTemplates", ()):
        # The message of an object inside of another has neither; defaults bring them back.
        for key in ("kind", "apiVersion"):
            claim.pop(key, None)
    obj["kind"], obj["apiVersion"] = resource.kind, resource.api_version
    read = protobuf.decode(protobuf.encode(obj), NONE)
    assert without_zeros(Decoder().decode(resource.type, read)) == without_zeros(obj)


def without_zeros(value: Any) -> Any:
    """Return a value without what is empty: protobuf has no empty lists and maps, and Go's structs are always there."""
    if isinstance(value, dict):
        kept = {name: without_zeros(item) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item not in ({}, [], "", None, 0, "0", False)}
    return [without_zeros(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"metadata": {"generation": -1}}, field(1, b"".join((
            field(1, ""), field(2, ""), field(3, ""), field(4, ""), field(5, ""), field(6, ""), field(7, -1), field(8, b""))))),
        ({"immutable": False}, field(4, 0)),
        ({"binaryData": {"b": "AAE=", "a": ""}}, field(3, field(1, "a") + field(2, "")) + field(3, field(1, "b") + field(2, b"\0\1"))),
    ],
)  # fmt: skip
def test_parts_of_a_config_map(part: Object, message: bytes) -> None:
    """Strings, times and numbers of metadata are there although they are zero; keys are in order."""
    obj = {"apiVersion": "v1", "kind": "ConfigMap", **part}
    empty = b"".join(field(number, "") for number in range(1, 7)) + field(7, 0) + field(8, b"")
    expected = message if "metadata" in part else field(1, empty) + message
    assert protobuf.encode(obj) == envelope("v1", "ConfigMap", expected) + b"\x1a\x00\x22\x00"


@pytest.mark.parametrize(
    ("text", "seconds", "nanoseconds"),
    [
        ("2023-11-14T22:13:20Z", 1_700_000_000, 0),
        ("2023-11-14T23:13:20+01:00", 1_700_000_000, 0),
        ("1969-12-31T23:59:59Z", -1, 0),
        ("2023-11-14T22:13:20.000001Z", 1_700_000_000, 1000),
    ],
)
def test_times(text: str, seconds: int, nanoseconds: int) -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"renewTime": text}}
    written = field(4, field(1, seconds) + field(2, nanoseconds))
    assert protobuf.encode(lease).endswith(field(2, written) + b"\x1a\x00\x22\x00")


META = "io.k8s.apimachinery.pkg.apis.meta.v1."


@pytest.mark.parametrize(
    "obj",
    [
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 404, "details": {"name": "x"}},
        {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "m", "labels": {"a": "b"}}},
        {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1beta1", "metadata": {"name": "m"}},
        {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "1"},
         "items": [{"metadata": {"name": "m"}}]},
    ],
    ids=lambda obj: obj["kind"],
)  # fmt: skip
def test_kinds_of_every_group(obj: Object) -> None:
    assert protobuf.decode(protobuf.encode(obj), NONE, lambda *_: META + obj["kind"]) == obj


@pytest.mark.parametrize("number", [0.5, -7, 2**53, 1e18, -1.5e300])
def test_numbers_of_schemas(number: float) -> None:
    schema = {"type": "number", "maximum": number}
    obj = {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1", "spec": {"versions": [
        {"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}  # fmt: skip
    read = protobuf.decode(protobuf.encode(obj), NONE)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert read == schema and isinstance(orjson.dumps(read), bytes)


def test_a_list_that_is_a_message_of_its_own() -> None:
    """The verbs of a resource in discovery: one message with all of them, unlike other lists."""
    resource = {"name": "x", "verbs": ["get", "list"]}
    listed = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": [resource]}
    written = protobuf.encode(listed)
    assert field(4, field(1, "get") + field(1, "list")) in written
    assert protobuf.decode(written, NONE, lambda *_: META + "APIResourceList") == listed


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        ({"apiVersion": "example.com/v1", "kind": "Foo"}, "no message is known for Foo of example.com/v1"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "data": ["x"]}, "the object has no form in protobuf"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generation": "1"}}, "has no form"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "binaryData": {"a": "?"}}, "has no form"),
    ],
)
def test_what_has_no_form(obj: Object, text: str) -> None:
    with pytest.raises(protobuf.ProtobufError, match=text):
        protobuf.encode(obj)


def test_lists_and_events() -> None:
    items = b"".join(protobuf.item(raw) for raw in (b"\x0a\x00", b""))
    whole = b"".join(protobuf.list_parts("v1", "PodList", {"resourceVersion": "7"}, items))
    assert protobuf.decode(whole, NONE)["metadata"] == {"resourceVersion": "7"}
    assert protobuf.item_message(protobuf.item(b"x" * 300)) == b"x" * 300
    event = protobuf.watch_event("ADDED", b"k8s\0")
    (size,) = struct.unpack(">I", event[:4])
    assert size == len(event) - 4 and dict(wire.fields(event[4:])) == {1: b"ADDED", 2: field(1, b"k8s\0")}


@given(st.integers(0, 2**64 - 1))
def test_numbers(value: int) -> None:
    assert wire.varint(wire.number(value), 0) == (value, len(wire.number(value)))
