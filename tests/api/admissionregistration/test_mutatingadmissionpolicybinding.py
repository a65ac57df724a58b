"""MutatingAdmissionPolicyBinding: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding")
REFUSED: list[Any] = [
    ({"spec": {}}, ["spec.policyName: Required value"]),
    (
        {"spec": {"policyName": "A", "paramRef": {}}},
        [
            "spec.policyName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "spec.paramRef: Required value: one of name or selector must be specified",
            "spec.paramRef.parameterNotFoundAction: Required value",
        ],
    ),
    (
        {
            "spec": {
                "policyName": "a",
                "paramRef": {
                    "name": "a/",
                    "selector": {"matchLabels": {"a b": "c"}},
                    "parameterNotFoundAction": "x",
                },
            }
        },
        [
            "spec.paramRef.name: Invalid value: \"a/\": may not contain '/'",
            "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
            "spec.paramRef.selector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
            'spec.paramRef.parameterNotFoundAction: Unsupported value: "x": supported values: "Deny", "Allow"',
        ],
    ),
    (
        {
            "spec": {
                "policyName": "a",
                "matchResources": {
                    "resourceRules": [
                        {
                            "operations": ["DELETE"],
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "resources": ["pods"],
                        }
                    ]
                },
            }
        },
        [
            'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"'
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {
            "spec": {
                "policyName": "a",
                "matchResources": {},
                "paramRef": {"selector": {"matchLabels": {"b": "c"}}, "parameterNotFoundAction": "Deny"},
            }
        },
        {
            "spec": {
                "policyName": "a",
                "matchResources": {
                    "matchPolicy": "Equivalent",
                    "namespaceSelector": {},
                    "objectSelector": {},
                },
                "paramRef": {"selector": {"matchLabels": {"b": "c"}}, "parameterNotFoundAction": "Deny"},
            }
        },
    )
]
ROWS: list[Any] = [({"spec": {"policyName": "p"}}, ["x", "p", "<unset>", "90s"])]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
