"""Defaults of definitions."""

from __future__ import annotations

import pytest

from pybernetes.api.customresource.default_checks import check_defaults
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "default": "fine"}, []),
        ({"type": "integer", "default": "x"}, ["schema.properties[a].default: Invalid value"]),
        (
            {"type": "object", "properties": {"b": {"type": "string"}}, "default": {"c": 1}},
            ["must not have unknown fields"],
        ),
        (
            {"type": "object", "properties": {"b": {"type": "integer", "maximum": 2}}, "default": {"b": 3}},
            ["schema.properties[a].default.b: Invalid value: 3"],
        ),
        (
            {
                "type": "integer",
                "default": 3,
                "x-kubernetes-validations": [{"rule": "self > 5", "message": "small"}],
            },
            ["schema.properties[a].default: Invalid value: 3: small"],
        ),
        (
            {
                "type": "array",
                "items": {"type": "object", "properties": {"b": {"type": "boolean", "default": 1}}},
            },
            ["schema.properties[a].items.properties[b].default: Invalid value"],
        ),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": {"any": [1]}}, []),
    ],
)
def test_defaults_are_right_for_their_schemas(schema: Object, expected: list[str]) -> None:
    errors = Errors()
    check_defaults({"type": "object", "properties": {"a": schema}}, Path("schema"), errors)
    assert len(errors) == len(expected), errors
    for error, text in zip(errors, expected, strict=True):
        assert text in str(error)
