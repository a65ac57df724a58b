"""What is wrong with lists, by the schemas of a server."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pybernetes.tools.kubectl.connection.client import Client
from pybernetes.tools.kubectl.resources.list_schema import complaints

_MAP = {"type": "object", "additionalProperties": {"type": "string"}}
_DEFINITIONS: dict[str, Any] = {
    "v1.Kit": {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "spec": {"$ref": "#/definitions/v1.KitSpec"},
            "labels": _MAP,
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {}},
        },
        "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Kit"}],
    },
    "v1.KitList": {
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "items": {"type": "array", "items": {"$ref": "#/definitions/v1.Kit"}},
        },
        "required": ["items"],
        "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "KitList"}],
    },
    "v1.KitSpec": {"properties": {"size": {"type": "integer"}, "on": {"type": "boolean"}, "any": {}}},
}


class _Server:
    def json(self, *words: Any, **options: Any) -> Any:
        return {"definitions": _DEFINITIONS}


def _wrong(kind: str, value: dict[str, Any]) -> list[str]:
    version = "v1" if kind == "List" else "example.com/v1"
    return complaints({"apiVersion": version, "kind": kind, **value}, cast("Client", _Server()))


def _kit(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Kit", **fields}


@pytest.mark.parametrize(
    ("kit", "expected"),
    [
        (_kit(spec={"size": 1, "on": True, "any": [1]}, labels={"a": "b", "c": 1}, free={"x": 1}), []),
        (_kit(spec={"size": 1.5}), []),
        (_kit(spec=None), ['ValidationError(Kit): missing required field "spec" in v1.Kit']),
        (_kit(spec={"extra": 1}), ['ValidationError(Kit.spec): unknown field "extra" in v1.KitSpec']),
        (
            _kit(spec={"size": "1", "on": 1}),
            [
                'ValidationError(Kit.spec.on): invalid type for v1.KitSpec.on: got "integer", expected "boolean"',
                'ValidationError(Kit.spec.size): invalid type for v1.KitSpec.size: got "string", expected "integer"',
            ],
        ),
        (
            _kit(spec=[]),
            ['ValidationError(Kit.spec): invalid type for v1.KitSpec: got "array", expected "map"'],
        ),
        (
            _kit(spec={}, labels={"a": ["b"], "c": None}),
            [
                'ValidationError(Kit.labels.a): invalid type for v1.Kit.labels: got "array", expected "string"',
                'unknown object type "nil" in Kit.labels.c',
            ],
        ),
        ({"apiVersion": "example.com/v2", "kind": "Kit", "any": 1}, []),
    ],
)
def test_items_of_a_list_of_any_kinds(kit: dict[str, Any], expected: list[str]) -> None:
    assert _wrong("List", {"items": [kit]}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"items": []}, []),
        ({}, ['ValidationError(KitList): missing required field "items" in v1.KitList']),
        (
            {"items": {}},
            [
                'ValidationError(KitList.items): invalid type for v1.KitList.items: got "map", expected "array"'
            ],
        ),
        (
            {"items": [None, {}]},
            [
                'ValidationError(KitList.items): unknown object type "nil" in KitList.items[0]',
                'ValidationError(KitList.items[1]): missing required field "spec" in v1.Kit',
            ],
        ),
    ],
)
def test_a_list_of_one_kind(value: dict[str, Any], expected: list[str]) -> None:
    assert _wrong("KitList", value) == expected
