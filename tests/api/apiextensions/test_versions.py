"""CustomResourceDefinition: which versions and conversions are refused."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.api import kinds
from tests.api.apiextensions.definitions import SPEC, VERSION, make

# What is changed in a good spec, and the complaints.
SPECS: list[Any] = [
    (
        {
            "versions": [
                VERSION,
                VERSION,
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
                VERSION,
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
