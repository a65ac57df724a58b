"""Defaults of custom resources."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.customresource import defaults
from pybernetes.api.errors import StatusError
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
    defaults.apply(schema, value, defaults.Room())
    assert value == expected
    assert defaults.has_defaults(schema)


def test_defaults_do_not_grow_beyond_what_can_be_stored() -> None:
    """A body of 160 kB with 40,000 empty items became 800 MB, and nobody was answered for seconds."""
    item = {"type": "object", "properties": {"x": {"type": "string", "default": "y" * 20_000}}}
    schema = {"type": "object", "properties": {"l": {"type": "array", "items": item}}}
    few: dict[str, Any] = {"l": [{} for _ in range(100)]}
    defaults.apply(schema, few, defaults.Room())
    assert {len(entry["x"]) for entry in few["l"]} == {20_000}
    many: dict[str, Any] = {"l": [{} for _ in range(40_000)]}
    with pytest.raises(StatusError, match="Request entity too large: limit is 3145728"):
        defaults.apply(schema, many, defaults.Room())
    assert sum("x" in entry for entry in many["l"]) < 160
    stored: dict[str, Any] = {"l": [{} for _ in range(200)]}
    defaults.apply(schema, stored, defaults.Unbounded())  # what is stored is read, whatever it has become
    assert all("x" in entry for entry in stored["l"])
