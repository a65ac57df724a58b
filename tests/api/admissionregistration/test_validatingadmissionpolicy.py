"""ValidatingAdmissionPolicy: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy")
REFUSED: list[Any] = [
    (
        {"spec": {}},
        [
            "spec.matchConstraints: Required value",
            "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
            "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
        ],
    ),
    (
        {"spec": {"matchConstraints": {}}},
        [
            "spec.matchConstraints.resourceRules: Required value",
            "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
            "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
        ],
    ),
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
                "validations": [{}],
            }
        },
        ["spec.validations[0].expression: Required value: expression is not specified"],
    ),
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
                "validations": [
                    {"expression": "true", "message": " ", "messageExpression": " ", "reason": "x"},
                    {"expression": "true", "message": "a\nb"},
                ],
                "auditAnnotations": [
                    {},
                    {"key": "a b", "valueExpression": "'a'"},
                    {"key": "a", "valueExpression": "'a'"},
                    {"key": "a", "valueExpression": "'a'"},
                ],
            }
        },
        [
            'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
            'spec.validations[0].message: Invalid value: " ": must be non-empty if specified',
            'spec.validations[0].reason: Unsupported value: "x": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
            'spec.validations[1].message: Invalid value: "a\\nb": must not contain line breaks',
            'spec.auditAnnotations[0].key: Invalid value: "x/": name part must be non-empty',
            "spec.auditAnnotations[0].key: Invalid value: \"x/\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified",
            "spec.auditAnnotations[1].key: Invalid value: \"x/a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            'spec.auditAnnotations[3].key: Duplicate value: "a"',
        ],
    ),
    (
        {
            "spec": {
                "failurePolicy": "x",
                "paramKind": {},
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
                "validations": [{"expression": "true"}],
            }
        },
        [
            'spec.failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"',
            "spec.paramKind.apiVersion: Required value",
            "spec.paramKind.kind: Required value",
        ],
    ),
    (
        {
            "spec": {
                "paramKind": {"apiVersion": "a/b/c", "kind": "A B"},
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
                "validations": [{"expression": "true"}],
            }
        },
        [
            'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
            "spec.paramKind.kind: Invalid value: \"A B\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        ],
    ),
    (
        {
            "spec": {
                "paramKind": {"apiVersion": "A/", "kind": "A"},
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
                "validations": [{"expression": "true"}],
            }
        },
        [
            "spec.paramKind.apiVersion: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            'spec.paramKind.apiVersion: Invalid value: "A/": version must be specified',
        ],
    ),
    (
        {
            "spec": {
                "paramKind": {"apiVersion": "a/1", "kind": "A"},
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
                "validations": [{"expression": "true"}],
            }
        },
        [
            "spec.paramKind.apiVersion: Invalid value: \"1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
        ],
    ),
    (
        {
            "spec": {
                "matchConstraints": {
                    "matchPolicy": "x",
                    "namespaceSelector": {"matchLabels": {"a b": "c"}},
                    "resourceRules": [
                        {
                            "resourceNames": ["a", "a", "/"],
                            "operations": ["CREATE"],
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "resources": ["pods"],
                        }
                    ],
                    "excludeResourceRules": [{}],
                },
                "validations": [{"expression": "true"}],
            }
        },
        [
            'spec.matchConstraints.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"',
            "spec.matchConstraints.namespaceSelector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
            "spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: \"/\": may not contain '/'",
            "spec.matchConstraints.excludeResourceRules[0].operations: Required value",
            "spec.matchConstraints.excludeResourceRules[0].apiGroups: Required value",
            "spec.matchConstraints.excludeResourceRules[0].apiVersions: Required value",
            "spec.matchConstraints.excludeResourceRules[0].resources: Required value",
        ],
    ),
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
                "variables": [
                    {},
                    {"name": "a b", "expression": " "},
                    {"name": "in", "expression": "true"},
                    {"name": "ok", "expression": "true"},
                ],
                "validations": [{"expression": "true"}],
                "matchConditions": [{"name": "a", "expression": ""}],
            }
        },
        [
            "spec.matchConditions[0].expression: Required value",
            "spec.variables[0].name: Required value: name is not specified",
            "spec.variables[0].expression: Required value: expression is not specified",
            'spec.variables[1].name: Invalid value: "a b": must be a valid CEL identifier',
            "spec.variables[1].expression: Required value: expression is not specified",
            'spec.variables[2].name: Invalid value: "in": must be a valid CEL identifier',
        ],
    ),
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
                "validations": [{"expression": "true"}],
                "auditAnnotations": [
                    {"key": "a0", "valueExpression": "'a'"},
                    {"key": "a1", "valueExpression": "'a'"},
                    {"key": "a2", "valueExpression": "'a'"},
                    {"key": "a3", "valueExpression": "'a'"},
                    {"key": "a4", "valueExpression": "'a'"},
                    {"key": "a5", "valueExpression": "'a'"},
                    {"key": "a6", "valueExpression": "'a'"},
                    {"key": "a7", "valueExpression": "'a'"},
                    {"key": "a8", "valueExpression": "'a'"},
                    {"key": "a9", "valueExpression": "'a'"},
                    {"key": "a10", "valueExpression": "'a'"},
                    {"key": "a11", "valueExpression": "'a'"},
                    {"key": "a12", "valueExpression": "'a'"},
                    {"key": "a13", "valueExpression": "'a'"},
                    {"key": "a14", "valueExpression": "'a'"},
                    {"key": "a15", "valueExpression": "'a'"},
                    {"key": "a16", "valueExpression": "'a'"},
                    {"key": "a17", "valueExpression": "'a'"},
                    {"key": "a18", "valueExpression": "'a'"},
                    {"key": "a19", "valueExpression": "'a'"},
                    {"key": "a20", "valueExpression": "'a'"},
                ],
            }
        },
        [
            'spec.auditAnnotations: Invalid value: [{"Key":"a0","ValueExpression":"\'a\'"},{"Key":"a1","ValueExpression":"\'a\'"},{"Key":"a2","ValueExpression":"\'a\'"},{"Key":"a3","ValueExpression":"\'a\'"},{"Key":"a4","ValueExpression":"\'a\'"},{"Key":"a5","ValueExpression":"\'a\'"},{"Key":"a6","ValueExpression":"\'a\'"},{"Key":"a7","ValueExpression":"\'a\'"},{"Key":"a8","ValueExpression":"\'a\'"},{"Key":"a9","ValueExpression":"\'a\'"},{"Key":"a10","ValueExpression":"\'a\'"},{"Key":"a11","ValueExpression":"\'a\'"},{"Key":"a12","ValueExpression":"\'a\'"},{"Key":"a13","ValueExpression":"\'a\'"},{"Key":"a14","ValueExpression":"\'a\'"},{"Key":"a15","ValueExpression":"\'a\'"},{"Key":"a16","ValueExpression":"\'a\'"},{"Key":"a17","ValueExpression":"\'a\'"},{"Key":"a18","ValueExpression":"\'a\'"},{"Key":"a19","ValueExpression":"\'a\'"},{"Key":"a20","ValueExpression":"\'a\'"}]: must not have more than 20 auditAnnotations'
        ],
    ),
]
STATUSES: list[Any] = [
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
                "validations": [{"expression": "true"}],
                "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            }
        },
        {"typeChecking": {"expressionWarnings": [{}]}, "conditions": [{}]},
        [
            "status.typeChecking.expressionWarnings[0].warning: Required value",
            "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
            "status.conditions[0].type: Required value: is required",
            "status.conditions[0].status: Required value",
            "status.conditions[0].lastTransitionTime: Required value",
            "status.conditions[0].reason: Required value",
        ],
    )
]
ROWS: list[Any] = [
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
                "validations": [{"expression": "true"}],
                "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            }
        },
        ["x", 1, "v1/ConfigMap", "90s"],
    ),
    ({}, ["x", 0, "<unset>", "90s"]),
]

test_refused = tables.refused(make, REFUSED)
test_status = tables.reported(make, STATUSES)
test_row = tables.printed(make, ROWS)
