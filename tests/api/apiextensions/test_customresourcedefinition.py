"""CustomResourceDefinition: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.api import kinds


def make(fields: dict[str, Any]) -> dict[str, Any]:
    """An object with these fields."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "x"},
        **fields,
    }


VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
SPEC = {"group": "a.b", "scope": "Cluster", "names": {"plural": "foos", "kind": "Foo"}, "versions": [VERSION]}
REFUSED: list[Any] = [
    (
        {"spec": {}},
        [
            'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
            "spec.group: Required value",
            "spec.scope: Required value",
            "spec.versions: Invalid value: null: must have exactly one version marked as storage version",
            "spec.names.plural: Required value",
            "spec.names.singular: Required value",
            "spec.names.kind: Required value",
            "spec.names.listKind: Required value",
            "status.storedVersions: Invalid value: null: must have at least one stored version",
        ],
    ),
    (
        {"spec": {"versions": [{}]}},
        [
            'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
            "spec.group: Required value",
            "spec.scope: Required value",
            "spec.versions[0].schema.openAPIV3Schema: Required value",
            "spec.versions[0].name: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            'spec.versions: Invalid value: [{"Name":"","Served":false,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
            "spec.names.plural: Required value",
            "spec.names.singular: Required value",
            "spec.names.kind: Required value",
            "spec.names.listKind: Required value",
            "status.storedVersions: Invalid value: null: must have at least one stored version",
        ],
    ),
    (
        {
            "metadata": {"name": "foos.a"},
            "spec": {
                "group": "a",
                "scope": "x",
                "names": {
                    "plural": "foos",
                    "kind": "F_",
                    "singular": "A",
                    "listKind": "F_",
                    "shortNames": ["A"],
                    "categories": ["B"],
                },
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        [
            'spec.group: Invalid value: "a": should be a domain with at least one dot',
            'spec.scope: Unsupported value: "x": supported values: "Cluster", "Namespaced"',
            "spec.names.singular: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.names.kind: Invalid value: \"F_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.names.listKind: Invalid value: \"F_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.names.shortNames[0]: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            'spec.names.listKind: Invalid value: "F_": kind and listKind may not be the same',
            "spec.names.categories[0]: Invalid value: \"B\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        ],
    ),
    (
        {
            "metadata": {"name": "foos.x.k8s.io"},
            "spec": {
                "group": "x.k8s.io",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        [
            'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'
        ],
    ),
]
# What is changed in a good spec, and the complaints.
SPECS: list[Any] = [
    (
        {
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                },
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                },
            ]
        },
        [
            'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must contain unique version names',
            'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
            'status.storedVersions: Invalid value: ["v1"]: must have the storage version v1',
        ],
    ),
    (
        {
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                },
                {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": {}}},
            ]
        },
        ["spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at the root"],
    ),
    ({"versions.0.schema": {}}, ["spec.versions[0].schema.openAPIV3Schema: Required value"]),
    (
        {"preserveUnknownFields": True},
        [
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        ],
    ),
    (
        {"conversion": {"strategy": "Webhook"}},
        [
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ],
    ),
    (
        {"conversion": {"strategy": "x"}},
        ['spec.conversion.strategy: Unsupported value: "x": supported values: "None", "Webhook"'],
    ),
    (
        {
            "conversion": {
                "strategy": "None",
                "webhook": {"clientConfig": {"url": "https://x"}, "conversionReviewVersions": ["v1"]},
            }
        },
        [
            "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
            "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
        ],
    ),
    (
        {
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v2", "v2"]},
            }
        },
        [
            "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required",
            'spec.conversion.conversionReviewVersions[1]: Invalid value: "v2": duplicate version',
            'spec.conversion.conversionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
        ],
    ),
    (
        {
            "versions.0.deprecationWarning": "x",
            "versions.0.additionalPrinterColumns": [
                {},
                {"name": "a", "type": "x", "format": "y", "jsonPath": "z"},
            ],
            "versions.0.subresources": {"scale": {}, "status": {}},
        },
        [
            'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
            "spec.subresources.scale.specReplicasPath: Required value",
            "spec.subresources.scale.statusReplicasPath: Required value",
            "spec.additionalPrinterColumns[0].name: Required value",
            "spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string",
            "spec.additionalPrinterColumns[0].JSONPath: Required value",
            'spec.additionalPrinterColumns[1].type: Invalid value: "x": must be one of boolean,date,integer,number,string',
            'spec.additionalPrinterColumns[1].format: Invalid value: "y": must be one of byte,date,date-time,double,float,int32,int64,password',
            'spec.additionalPrinterColumns[1].JSONPath: Invalid value: "z": must be a simple json path starting with .',
        ],
    ),
    (
        {
            "versions.0.subresources": {
                "scale": {"specReplicasPath": ".x", "statusReplicasPath": "x", "labelSelectorPath": ".q"}
            }
        },
        [
            'spec.subresources.scale.specReplicasPath: Invalid value: ".x": should be a json path under .spec',
            'spec.subresources.scale.statusReplicasPath: Invalid value: "x": must be a simple json path starting with .',
            'spec.subresources.scale.labelSelectorPath: Invalid value: ".q": should be a json path under either .spec or .status',
        ],
    ),
    (
        {"versions.0.name": "V1", "versions.0.deprecated": True, "versions.0.deprecationWarning": ""},
        [
            "spec.versions[0].name: Invalid value: \"V1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            'spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string',
            "spec.version: Invalid value: \"V1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        ],
    ),
    (
        {
            "versions.0.schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {
                            "type": "object",
                            "properties": {"a": {"type": "string"}, "o": {"type": "object"}},
                        },
                        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
                    },
                }
            },
            "versions.0.selectableFields": [
                {"jsonPath": ".spec.a"},
                {"jsonPath": ".spec.a"},
                {"jsonPath": "spec.a"},
                {"jsonPath": ".spec.x"},
                {"jsonPath": ".spec.o"},
                {"jsonPath": ".metadata.name"},
                {},
            ],
        },
        [
            'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
            'spec.selectableFields[2].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec',
            'spec.selectableFields[3].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid field',
            'spec.selectableFields[4].jsonPath: Invalid value: ".spec.o": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
            'spec.selectableFields[5].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata',
            "spec.selectableFields[6].jsonPath: Required value",
        ],
    ),
    (
        {
            "versions.0.schema": {
                "openAPIV3Schema": {"type": "object", "description": "q", "anyOf": [{"required": ["a"]}]}
            },
            "versions.0.subresources": {"status": {}},
        },
        [
            'spec.validation.openAPIV3Schema: Invalid value: {"anyOf":[{"required":["a"]}],"description":"q","type":"object"}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled'
        ],
    ),
]
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
COMPLETED: list[Any] = [
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        {
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
                "conversion": {"strategy": "None"},
            },
            "status": {"acceptedNames": {"kind": "", "plural": ""}, "storedVersions": ["v1"]},
        },
    ),
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {
                        "clientConfig": {"service": {"name": "a", "namespace": "b"}},
                        "conversionReviewVersions": ["v1"],
                    },
                },
            },
        },
        {
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {
                        "clientConfig": {"service": {"name": "a", "namespace": "b", "port": 443}},
                        "conversionReviewVersions": ["v1"],
                    },
                },
            },
            "status": {"acceptedNames": {"kind": "", "plural": ""}, "storedVersions": ["v1"]},
        },
    ),
]
UPDATES: list[Any] = [
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        {"spec.group": "c.d"},
        [
            'metadata.name: Invalid value: "foos.a.b": must be spec.names.plural+"."+spec.group',
            'spec.group: Invalid value: "c.d": field is immutable',
        ],
    ),
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        {"spec.versions.0.name": "v2"},
        [
            'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions'
        ],
    ),
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        {"spec.scope": "Namespaced"},
        [],
    ),
]
STATUSES: list[Any] = [
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        {"acceptedNames": {"plural": "A"}},
        [
            "status.acceptedNames.plural: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
        ],
    )
]
ROWS: list[Any] = [
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        },
        ["foos.a.b", "Cluster", "v1(storage)", "2026-01-02T03:04:05Z", "a.b", "Foo", "fo,f", False],
    ),
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        },
        ["foos.a.b", "Cluster", "v1(storage)", "2026-01-02T03:04:05Z", "a.b", "Foo", "fo,f", True],
    ),
]


@pytest.mark.parametrize(("fields", "errors"), REFUSED)
def test_refused(fields: Any, errors: Any) -> None:
    assert kinds.create_errors(make(fields)) == errors


@pytest.mark.parametrize(("fields", "expected"), COMPLETED)
def test_completed(fields: Any, expected: Any) -> None:
    obj = kinds.created(make(fields))
    assert {key: obj[key] for key in obj if key not in ("apiVersion", "kind", "metadata")} == expected
    assert kinds.create_errors(make(fields)) == []


@pytest.mark.parametrize(("fields", "change", "errors"), UPDATES)
def test_updates(fields: Any, change: Any, errors: Any) -> None:
    assert kinds.update_errors(make(fields), change) == errors


@pytest.mark.parametrize(("fields", "status", "errors"), STATUSES)
def test_status(fields: Any, status: Any, errors: Any) -> None:
    assert kinds.status_errors(make(fields), status) == errors


@pytest.mark.parametrize(("fields", "row"), ROWS)
def test_row(fields: Any, row: Any) -> None:
    assert kinds.cells(make(fields)) == row


@pytest.mark.parametrize(("change", "errors"), SPECS)
def test_spec(change: Any, errors: Any) -> None:
    spec = deepcopy(SPEC)
    for path, value in change.items():
        *parents, last = path.split(".")
        node: Any = spec
        for part in parents:
            node = node[int(part)] if part.isdigit() else node[part]
        node[last] = value
    name = f"{spec['names']['plural']}.{spec['group']}"
    assert kinds.create_errors(make({"metadata": {"name": name}, "spec": spec})) == errors


@pytest.mark.parametrize(("schema", "errors"), SCHEMAS)
def test_schema(schema: Any, errors: Any) -> None:
    version = {**VERSION, "schema": {"openAPIV3Schema": schema}}
    obj = make({"metadata": {"name": "foos.a.b"}, "spec": {**SPEC, "versions": [version]}})
    texts = [
        text.removeprefix("spec.validation.openAPIV3Schema").lstrip(".") for text in kinds.create_errors(obj)
    ]
    assert texts == errors


def test_warnings() -> None:
    schema = {
        "type": "object",
        "properties": {
            "good": {"type": "string", "format": "date-time"},
            "odd": {"type": "string", "format": "colour"},
            "number": {"type": "integer", "format": "int16"},
            "set": {
                "type": "array",
                "x-kubernetes-list-type": "set",
                "items": {"type": "object", "x-kubernetes-map-type": "atomic"},
            },
        },
    }
    version = {**VERSION, "schema": {"openAPIV3Schema": schema}}
    obj = make({"metadata": {"name": "foos.a.b"}, "spec": {**SPEC, "versions": [version]}})
    warnings = kinds.resource_of(obj).warnings
    assert warnings is not None and kinds.create_errors(obj) == []
    assert warnings(obj, None) == [
        'unrecognized format "colour"',
        'unrecognized format "int16"',
        'x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply '
        "or CEL validation rules",
    ]
    assert warnings(obj, obj) == []
