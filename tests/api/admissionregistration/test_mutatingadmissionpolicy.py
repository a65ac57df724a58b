"""MutatingAdmissionPolicy: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy")
REFUSED: list[Any] = [
    (
        {"spec": {}},
        [
            "spec.matchConstraints: Required value",
            "spec.mutations: Required value: mutations must contain at least one item",
            "spec.reinvocationPolicy: Required value",
        ],
    ),
    (
        {
            "spec": {
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "operations": ["DELETE"],
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "resources": ["pods"],
                        }
                    ]
                },
                "mutations": [
                    {},
                    {"patchType": "x"},
                    {"patchType": "JSONPatch"},
                    {"patchType": "JSONPatch", "applyConfiguration": {"expression": "a"}},
                    {"patchType": "ApplyConfiguration", "jsonPatch": {"expression": "a"}},
                    {
                        "patchType": "ApplyConfiguration",
                        "applyConfiguration": {"expression": " "},
                        "jsonPatch": {"expression": "a"},
                    },
                ],
                "reinvocationPolicy": "x",
            }
        },
        [
            'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
            "spec.mutations[0].patchType: Required value",
            'spec.mutations[1].patchType: Unsupported value: "x": supported values: "ApplyConfiguration", "JSONPatch"',
            "spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch",
            "spec.mutations[3].jsonPatch: Required value: must be specified when patchType is JSONPatch",
            'spec.mutations[3].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
            "spec.mutations[4].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
            'spec.mutations[4].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
            "spec.mutations[5].applyConfiguration.expression: Required value",
            'spec.mutations[5].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
            'spec.reinvocationPolicy: Unsupported value: "x": supported values: "IfNeeded", "Never"',
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {
            "spec": {
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "operations": ["CREATE"],
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "resources": ["pods"],
                        }
                    ]
                },
                "mutations": [
                    {
                        "patchType": "JSONPatch",
                        "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/a'}]"},
                    }
                ],
                "reinvocationPolicy": "Never",
            }
        },
        {
            "spec": {
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "operations": ["CREATE"],
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "resources": ["pods"],
                            "scope": "*",
                        }
                    ],
                    "matchPolicy": "Equivalent",
                    "namespaceSelector": {},
                    "objectSelector": {},
                },
                "mutations": [
                    {
                        "patchType": "JSONPatch",
                        "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/a'}]"},
                    }
                ],
                "reinvocationPolicy": "Never",
                "failurePolicy": "Fail",
            }
        },
    )
]
ROWS: list[Any] = [
    (
        {"spec": {"mutations": [{}], "paramKind": {"apiVersion": "a/v1", "kind": "K"}}},
        ["x", 1, "a/v1/K", "90s"],
    )
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
