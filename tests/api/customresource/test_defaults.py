"""Defaults of custom resources."""

from __future__ import annotations

import pytest

from pybernetes.api.customresource import defaults
from pybernetes.api.resource import Object


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, {"a": 1}),
        ({"a": 2}, {"a": 2}),
        ({"a": None}, {"a": 1}),
        ({"n": None}, {"a": 1, "n": None}),
        ({"o": {}}, {"a": 1, "o": {"b": True}}),
        ({"l": [{}]}, {"a": 1, "l": [{"c": "x"}]}),
        ({"m": {"k": {}}}, {"a": 1, "m": {"k": {"d": []}}}),
    ],
)
def test_defaults(value: Object, expected: Object) -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "default": 1},
            "n": {"type": "string", "nullable": True, "default": "x"},
            "o": {"type": "object", "properties": {"b": {"type": "boolean", "default": True}}},
            "l": {"type": "array", "items": {"type": "object", "properties": {"c": {"default": "x"}}}},
            "m": {"type": "object", "additionalProperties": {"properties": {"d": {"default": []}}}},
        },
    }
    if "n" not in value:
        schema["properties"].pop("n")  # type: ignore[attr-defined]
    defaults.apply(schema, value)
    assert value == expected
    assert defaults.has_defaults(schema)
