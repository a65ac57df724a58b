"""Values against schemas, in Kubernetes' words."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.customresource import list_types, validate
from pybernetes.api.field import ROOT, Errors
from pybernetes.api.resource import Object


def problems(schema: Object, value: Any, old: Any = validate.ABSENT) -> list[str]:
    reported = Errors()
    validate.check(schema, value, reported, old)
    return [str(problem) for problem in reported]


def spec(**schema: Any) -> Object:
    """Return a schema of an object whose one field ``x`` has the given schema."""
    return {"type": "object", "properties": {"x": schema}}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "string"}, "a", []),
        ({"type": "string"}, 1, ['x: Invalid value: "integer": x in body must be of type string: "integer"']),
        ({"type": "integer"}, 1.0, []),
        ({"type": "integer"}, 1.5, ['x: Invalid value: "number": x in body must be of type integer: "number"',
                                    '<nil>: Invalid value: "": Checked value must be of type integer (default format) in x']),
        ({"type": "integer", "format": "int64"}, 2**63,
         ['x: Invalid value: "float64": x in body must be of type int64: "float64"',
          '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in x']),
        ({"type": "number"}, 1, []),
        ({"type": "boolean"}, None, ['x: Invalid value: "null": x in body must be of type boolean: "null"']),
        ({"type": "boolean", "nullable": True}, None, []),
        ({"x-kubernetes-int-or-string": True}, "80%", []),
        ({"x-kubernetes-int-or-string": True}, True,
         ['x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"']),
        ({"type": "integer", "minimum": 1}, 0,
         ["x: Invalid value: 0: x in body should be greater than or equal to 1"]),
        ({"type": "integer", "maximum": 3, "exclusiveMaximum": True}, 3,
         ["x: Invalid value: 3: x in body should be less than 3"]),
        ({"type": "number", "multipleOf": 0.1}, 1.7e308, ["x: Invalid value: 1.7e+308: x in body should be a multiple of 0.1"]),
        ({"type": "number", "multipleOf": 5e-324}, 0, ["x: Invalid value: 0: x in body should be a multiple of 5e-324"]),
        ({"type": "number", "multipleOf": 0.1}, 0.7, []),
        ({"type": "integer", "multipleOf": 4}, 6, ["x: Invalid value: 6: x in body should be a multiple of 4"]),
        ({"type": "integer", "format": "int32"}, 2**31,
         ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x']),
        ({"type": "string", "maxLength": 2}, "abc", ["x: Too long: may not be more than 2 bytes"]),
        ({"type": "string", "minLength": 2}, "a",
         ['x: Invalid value: "a": x in body should be at least 2 chars long']),
        ({"type": "string", "maxLength": 2, "pattern": "^a+$"}, "bbb", ["x: Too long: may not be more than 2 bytes"]),
        ({"type": "string", "pattern": "^a+$"}, "b", ["x: Invalid value: \"b\": x in body should match '^a+$'"]),
        ({"type": "string", "format": "ipv4"}, "1.2.3",
         ['x: Invalid value: "1.2.3": x in body must be of type ipv4: "1.2.3"']),
        ({"type": "string", "format": "whatever"}, "1.2.3", []),
        ({"type": "string", "enum": ["a", "b"]}, "c", ['x: Unsupported value: "c": supported values: "a", "b"']),
        ({"type": "array", "maxItems": 1}, [1, 2], ["x: Too many: 2: must have at most 1 item"]),
        ({"type": "array", "minItems": 1}, [], ["x: Invalid value: 0: x in body should have at least 1 items"]),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1],
         ['x[1]: Invalid value: "integer": x[1] in body must be of type string: "integer"']),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"k": 1},
         ['x.k: Invalid value: "integer": x.k in body must be of type string: "integer"']),
        ({"type": "object", "required": ["a", "b"]}, {"a": 1}, ["x.b: Required value"]),
        ({"type": "object", "minProperties": 1}, {},
         ["x: Invalid value: 0: x in body should have at least 1 properties"]),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {},
         ['<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)', "x.a: Required value"]),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1, "b": 1},
         ['<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives']),
        ({"allOf": [{"required": ["a"]}]}, {},
         ["x.a: Required value", '<nil>: Invalid value: "": "x" must validate all the schemas (allOf). None validated']),
        ({"not": {"required": ["a"]}}, {"a": 1}, ['<nil>: Invalid value: "": "x" must not validate the schema (not)']),
    ],
)  # fmt: skip
def test_messages(schema: Object, value: Any, expected: list[str]) -> None:
    assert problems(spec(**schema), {"x": value}) == expected


def test_patterns_cannot_be_made_slow() -> None:
    assert problems(spec(type="string", pattern="^(a+)+$"), {"x": "a" * 60 + "b"})


def test_what_stays_wrong_is_forgiven() -> None:
    schema = spec(type="integer", maximum=3)
    schema["properties"]["y"] = {"type": "string"}
    assert problems(schema, {"x": 5, "y": "new"}, {"x": 5, "y": "old"}) == []
    assert problems(schema, {"x": 6, "y": "old"}, {"x": 5, "y": "old"})


def test_items_are_forgiven_by_key_only() -> None:
    item = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "v": {"type": "integer", "maximum": 3}},
    }
    by_key = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    old, new = [{"name": "a", "v": 9}], [{"name": "b", "v": 1}, {"name": "a", "v": 9}]
    assert problems(spec(type="array", items=item, **by_key), {"x": new}, {"x": old}) == []
    assert problems(spec(type="array", items=item), {"x": new}, {"x": old})


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"x-kubernetes-list-type": "set"}, [1, 2, 1, 1], ["x[2]: Duplicate value: 1"]),
        ({"x-kubernetes-list-type": "set"}, [1, True, "1", [1], [1], {"a": 1}, "[1]"], ["x[4]: Duplicate value: [1]"]),
        ({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]}, [{"n": "a"}, {"n": "a", "v": 1}],
         ['x[1]: Duplicate value: {"n":"a"}']),
        ({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]}, ["a"],
         ['x[0]: Invalid value: "a": must be an object for an array of list-type map']),
        ({"x-kubernetes-list-type": "atomic"}, [1, 1], []),
    ],
)  # fmt: skip
def test_lists_without_repetitions(schema: Object, value: Any, expected: list[str]) -> None:
    reported = Errors()
    list_types.check(spec(**schema), {"x": value}, ROOT, reported)
    assert [str(problem) for problem in reported] == expected
