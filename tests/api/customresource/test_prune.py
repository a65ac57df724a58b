"""Objects made to fit their schema."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.customresource import defaults, prune
from pybernetes.api.resource import Object
from pybernetes.api.schema import DecodeError, Decoder

PRESERVE, EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
HEAD = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}


def of_spec(**schema: Any) -> Object:
    return {"type": "object", "properties": {"spec": {"type": "object", **schema}}}


@pytest.mark.parametrize(
    ("schema", "value", "left", "unknown"),
    [
        ({"properties": {"a": {"type": "integer"}}}, {"a": 1, "b": 2}, {"a": 1}, ["spec.b"]),
        ({PRESERVE: True}, {"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 2}}, []),
        ({PRESERVE: True, "properties": {"a": {"type": "object"}}}, {"a": {"x": 1}, "b": 1}, {"a": {}, "b": 1},
         ["spec.a.x"]),
        ({"properties": {"l": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}}}},
         {"l": [{"a": 1, "z": 1}]}, {"l": [{"a": 1}]}, ["spec.l[0].z"]),
        ({"additionalProperties": {"type": "object", "properties": {"a": {}}}}, {"k": {"a": 1, "z": 1}},
         {"k": {"a": 1}}, ["spec.k.z"]),
        ({"properties": {"a": {"type": "string"}, "n": {"type": "string", "nullable": True}}},
         {"a": None, "n": None}, {"n": None}, []),
        ({EMBEDDED: True, "properties": {"spec": {"type": "object", PRESERVE: True}}},
         {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "nope": 1}, "spec": {"x": 1}, "y": 1},
         {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"x": 1}},
         ["spec.y", "spec.metadata.nope"]),
    ],
)  # fmt: skip
def test_unknown_fields_go(schema: Object, value: Object, left: Object, unknown: list[str]) -> None:
    decoder = Decoder()
    decoded = prune.decode(of_spec(**schema), {**copy.deepcopy(HEAD), "spec": value}, decoder)
    assert decoded["spec"] == left
    assert decoder.unknown == unknown


def test_metadata_is_like_that_of_any_kind() -> None:
    decoder = Decoder()
    decoded = prune.decode(
        {"type": "object"}, {**HEAD, "metadata": {"name": "a", "nope": 1, "labels": {}}}, decoder
    )
    assert decoded["metadata"] == {"name": "a"}
    assert decoder.unknown == ["metadata.nope"]
    with pytest.raises(DecodeError):
        prune.decode({"type": "object"}, {**HEAD, "metadata": {"labels": 1}}, Decoder())


_KEYS = st.sampled_from(["a", "b", "c", "items"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)
_SCHEMAS = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer", "default": 1}, {PRESERVE: True}]),
    lambda inner: st.one_of(
        st.dictionaries(_KEYS, inner, max_size=3).map(
            lambda properties: {"type": "object", "properties": properties}
        ),
        inner.map(lambda schema: {"type": "array", "items": schema}),
        inner.map(lambda schema: {"type": "object", "additionalProperties": schema}),
    ),
    max_leaves=8,
)


@given(schema=_SCHEMAS, value=_VALUES)
def test_what_fits_stays_as_it_is(schema: Object, value: Any) -> None:
    root = {"type": "object", "properties": {"spec": schema}}
    once = prune.clean(root, {**copy.deepcopy(HEAD), "spec": copy.deepcopy(value)})
    defaults.apply(root, once, defaults.Room())
    again = prune.clean(root, copy.deepcopy(once))
    defaults.apply(root, again, defaults.Room())
    assert again == once
