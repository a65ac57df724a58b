"""CustomResourceDefinition: which schemas are refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api import kinds
from tests.api.apiextensions.definitions import SPEC, VERSION, make

# Schemas, and the complaints about them without the path of the schema.
SCHEMAS: list[Any] = [
    ({}, ["type: Required value: must not be empty at the root"]),
    (
        {"type": "array"},
        [
            "items: Required value: must be specified",
            'type: Invalid value: "array": must be object at the root',
        ],
    ),
    (
        {
            "type": "object",
            "properties": {
                "a": {},
                "b": {"type": "array"},
                "c": {"type": "foo"},
                "d": {"type": "array", "items": {}},
                "e": {"type": "null"},
            },
        },
        [
            "properties[a].type: Required value: must not be empty for specified object fields",
            "properties[b].items: Required value: must be specified",
            "properties[d].items.type: Required value: must not be empty for specified array items",
            'properties[c].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
            'properties[e].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
            "properties[e].type: Forbidden: type cannot be set to null, use nullable as an alternative",
        ],
    ),
    (
        {"type": "object", "additionalProperties": True},
        ["additionalProperties: Forbidden: must not be used at the root"],
    ),
    (
        {
            "type": "object",
            "properties": {
                "a": {
                    "type": "object",
                    "properties": {"x": {"type": "string"}},
                    "additionalProperties": {"type": "string"},
                },
                "b": {"type": "string", "uniqueItems": True},
                "c": {"$ref": "x", "id": "q", "type": "string"},
            },
        },
        [
            "properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
            "properties[b].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
            "properties[c].id: Forbidden: id is not supported",
            "properties[c].$ref: Forbidden: $ref is not supported",
        ],
    ),
    (
        {
            "type": "object",
            "properties": {
                "a": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "b": {"type": "object", "x-kubernetes-embedded-resource": True},
                "c": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "d": {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            },
        },
        [
            "properties[d].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"
        ],
    ),
    (
        {
            "type": "object",
            "properties": {
                "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
                "kind": {"type": "integer"},
            },
        },
        ['properties[kind].type: Invalid value: "integer": must be string'],
    ),
    (
        {
            "type": "object",
            "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}},
        },
        [
            "properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified"
        ],
    ),
    (
        {
            "type": "object",
            "properties": {
                "a": {
                    "type": "object",
                    "properties": {"b": {"type": "string"}},
                    "anyOf": [
                        {"type": "string"},
                        {"properties": {"b": {"title": "x", "nullable": True}, "c": {}}},
                        {"properties": {"metadata": {}}},
                    ],
                    "not": {"items": {"description": "x"}},
                }
            },
        },
        [
            "properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
            "properties[a].anyOf[1].properties[b].nullable: Forbidden: must be false to be structural",
            "properties[a].anyOf[1].properties[b].title: Forbidden: must be empty to be structural",
            "properties[a].anyOf[2].properties[metadata]: Forbidden: must not be specified in a nested context",
            "properties[a].not.items.description: Forbidden: must be empty to be structural",
        ],
    ),
    (
        {
            "type": "object",
            "properties": {
                "a": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "items": {"type": "object", "properties": {"k": {"type": "string"}}},
                    "x-kubernetes-list-map-keys": ["k", "z", "k"],
                },
                "b": {"type": "string", "x-kubernetes-list-type": "x"},
                "c": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"},
                "d": {
                    "type": "array",
                    "items": {"type": "string", "nullable": True},
                    "x-kubernetes-list-type": "set",
                    "x-kubernetes-list-map-keys": ["x"],
                },
            },
        },
        [
            'properties[a].x-kubernetes-list-map-keys: Invalid value: ["k","z","k"]: entries must all be names of item properties',
            'properties[a].x-kubernetes-list-map-keys: Invalid value: ["k","z","k"]: must not contain duplicate entries',
            "properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            "properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            'properties[b].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
            'properties[b].x-kubernetes-list-type: Unsupported value: "x": supported values: "atomic", "set", "map"',
            "properties[c].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
            'properties[d].x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty',
            "properties[d].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set",
        ],
    ),
    (
        {
            "type": "object",
            "properties": {
                "a": {"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "string"}},
                "b": {"x-kubernetes-map-type": "q", "type": "string"},
            },
        },
        [
            "properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
            'properties[a].items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
            'properties[b].type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
            'properties[b].x-kubernetes-map-type: Unsupported value: "q": supported values: "atomic", "granular"',
        ],
    ),
    (
        {"type": "object", "nullable": True, "properties": {"a": {"type": "string", "pattern": "("}}},
        [
            "nullable: Forbidden: nullable cannot be true at the root",
            'properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
        ],
    ),
    (
        {
            "type": "object",
            "properties": {
                "a": {
                    "type": "string",
                    "x-kubernetes-validations": [
                        {},
                        {"rule": "true", "message": " "},
                        {"rule": "true", "message": "a\nb"},
                        {"rule": "a\nb"},
                        {"rule": "true", "messageExpression": " ", "reason": "x", "fieldPath": " "},
                    ],
                }
            },
        },
        [
            "properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified",
            'properties[a].x-kubernetes-validations[1].message: Invalid value: " ": must be non-empty if specified',
            'properties[a].x-kubernetes-validations[2].message: Invalid value: "a\\nb": must not contain line breaks',
            "properties[a].x-kubernetes-validations[3].message: Required value: message must be specified if rule contains line breaks",
            "properties[a].x-kubernetes-validations[4].messageExpression: Required value: messageExpression must be non-empty if specified",
            'properties[a].x-kubernetes-validations[4].reason: Unsupported value: "x": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
            'properties[a].x-kubernetes-validations[4].fieldPath: Invalid value: " ": must be non-empty if specified',
            'properties[a].x-kubernetes-validations[4].fieldPath: Invalid value: " ": must be a valid path',
        ],
    ),
    (
        {
            "type": "object",
            "properties": {
                "metadata": {"type": "object", "default": {}},
                "a": {"type": "string", "default": "x"},
            },
        },
        ["properties[metadata].default: Forbidden: must not be set in top-level metadata"],
    ),
    (
        {"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
        ["properties[a].items: Forbidden: items must be a schema object and not an array"],
    ),
]


@pytest.mark.parametrize(("schema", "errors"), SCHEMAS)
def test_schema(schema: Any, errors: Any) -> None:
    version = {**VERSION, "schema": {"openAPIV3Schema": schema}}
    obj = make({"metadata": {"name": "foos.a.b"}, "spec": {**SPEC, "versions": [version]}})
    texts = [
        text.removeprefix("spec.validation.openAPIV3Schema").lstrip(".") for text in kinds.create_errors(obj)
    ]
    assert texts == errors
