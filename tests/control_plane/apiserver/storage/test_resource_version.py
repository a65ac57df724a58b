"""Stored bytes, whoever wrote them."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from pybernetes.api import protobuf, stored_versions
from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.storage import written_messages
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.resource_version import check, restamp, stamp

RECORDED = Path(__file__).parents[3] / "api" / "protobuf" / "recorded.jsonl"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b'{"kind":"A","apiVersion":"v1","metadata":{"name":"a"}}',
         b'{"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"}}'),
        (b'{"kind":"A","apiVersion":"v1","metadata":{},"b":{"metadata":{"c":1}}}\n',
         b'{"kind":"A","apiVersion":"v1","metadata":{"resourceVersion":"7"},"b":{"metadata":{"c":1}}}'),
        (b'{"kind":"ClusterTrustBundle","apiVersion":"certificates.k8s.io/v1beta1","metadata":{"name":"a"},"spec":{}}\n',
         b'{"kind":"ClusterTrustBundle","apiVersion":"certificates.k8s.io/v1","metadata":{"resourceVersion":"7",'
         b'"name":"a"},"spec":{"trustBundle":""}}'),
        (b'{"kind":"DeviceTaintRule","apiVersion":"example.com/v1beta2","metadata":{"name":"a"}}',
         b'{"kind":"DeviceTaintRule","apiVersion":"example.com/v1beta2","metadata":{"resourceVersion":"7","name":"a"}}'),
    ],
)  # fmt: skip
def test_stamp(value: bytes, expected: bytes) -> None:
    assert stamp(value, 7) == expected


_BUDGET = {
    "kind": "PodDisruptionBudget", "apiVersion": "policy/v1beta1", "metadata": {"name": "a"}, "spec": {"selector": {}},
}  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        json.dumps(_BUDGET),
        json.dumps(_BUDGET, indent=2),
        json.dumps(_BUDGET, separators=(",", ":")),
        json.dumps(_BUDGET, separators=(",", ":"), sort_keys=True),
        "\n " + json.dumps(dict(reversed(_BUDGET.items()))) + "\n\n",
    ],
)
def test_an_older_version_is_converted_whatever_its_bytes_look_like(value: str) -> None:
    """In policy/v1beta1 an empty selector is one that selects nothing."""
    served = json.loads(stamp(value.encode(), 7))
    assert (served["apiVersion"], served["metadata"]["resourceVersion"]) == ("policy/v1", "7")
    assert list(served)[:3] == ["kind", "apiVersion", "metadata"]
    assert served["spec"]["selector"] == {
        "matchExpressions": [{"key": "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match", "operator": "Exists"}]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "kind", "spec"),
    [
        ("autoscaling/v1", "HorizontalPodAutoscaler", {"scaleTargetRef": [1], "maxReplicas": []}),
        ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", {"versions": 5, "validation": 1.5}),
        ("resource.k8s.io/v1beta1", "ResourceSlice", {"devices": [{"basic": True}]}),
    ],
)
def test_an_older_version_that_makes_no_sense_is_damage(
    version: str, kind: str, spec: dict[str, object]
) -> None:
    value = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    with pytest.raises(ValueError, match=r"."):
        stamp(json.dumps(value).encode(), 7)


def test_what_we_store_is_in_no_older_version() -> None:
    kinds = [Kind(resource) for resource in builtin() if resource.storage_version is None]
    assert (
        not {(kind.resource.api_version, kind.resource.kind) for kind in kinds}
        & stored_versions.older_versions().keys()
    )


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
    """What upstream shows of an object is what we make of its stored form, but for the revision."""
    for line in RECORDED.read_text().splitlines():
        entry = json.loads(line)
        value = json.loads(stamp(base64.b64decode(entry["protobuf"]), 7))
        assert value["metadata"].pop("resourceVersion") == "7"
        entry["json"]["metadata"].pop("resourceVersion", None)
        if entry["apiVersion"] not in ("autoscaling/v1", "events.k8s.io/v1"):  # these are stored as others
            assert value == entry["json"], entry["kind"]


def message(*fields: tuple[int, bytes]) -> bytes:
    """Return a message of fields that are texts or messages themselves."""
    return b"".join(bytes((number << 3 | 2, len(value))) + value for number, value in fields)


def test_a_definition_as_upstream_stores_it() -> None:
    """kube-apiserver v1.37 stores definitions as v1beta1, in protobuf."""
    schema = message((1, message((5, b"object"))))
    names = message((1, b"widgets"), (4, b"Widget"))
    version = message((1, b"v1")) + bytes((2 << 3, 1, 3 << 3, 1))
    spec = message((1, b"a.io"), (2, b"v1"), (3, names), (4, b"Cluster"), (5, schema), (7, version)) + bytes(
        (10 << 3, 0)
    )
    definition = message((1, message((1, b"widgets.a.io"))), (2, spec))
    kind = message((1, b"apiextensions.k8s.io/v1beta1"), (2, b"CustomResourceDefinition"))
    obj = json.loads(stamp(b"k8s\0" + message((1, kind), (2, definition)), 7))
    assert (obj["apiVersion"], obj["metadata"]["resourceVersion"]) == ("apiextensions.k8s.io/v1", "7")
    assert obj["spec"]["versions"] == [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    ]
    assert (obj["spec"]["scope"], "version" in obj["spec"], "validation" in obj["spec"]) == (
        "Cluster",
        False,
        False,
    )


def test_a_range_that_upstream_keeps() -> None:
    """Nobody can ask for these, yet they say which ports are taken."""
    value = {"kind": "RangeAllocation", "apiVersion": "v1", "range": "30000-32767", "data": "AQ=="}
    message = protobuf.encode(value, stored_versions.message_name)
    assert json.loads(stamp(message, 7)) == {**value, "metadata": {"resourceVersion": "7"}}


def test_what_was_just_written_is_not_read_again() -> None:
    pods = Kind(next(resource for resource in builtin() if resource.kind == "ConfigMap"))
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"b": "c"}}
    plain = pods.stored_form(obj)
    assert plain == pods.serialize(obj)
    pods.stores_messages = True
    message = pods.stored_form(obj)
    assert message.startswith(b"k8s\0") and written_messages.json_of(message) == plain
    assert stamp(message, 7) == stamp(plain, 7)
    written_messages.remember(b"x" * (2 << 20), b"y" * (2 << 20))  # all that there is room for
    assert written_messages.json_of(message) is None
    assert json.loads(stamp(message, 7)) == json.loads(stamp(plain, 7))
