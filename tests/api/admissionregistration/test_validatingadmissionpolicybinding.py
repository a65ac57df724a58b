"""ValidatingAdmissionPolicyBinding: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding")
REFUSED: list[Any] = [
    ({"spec": {}}, ["spec.policyName: Required value", "spec.validationActions: Required value"]),
    (
        {"spec": {"policyName": "A", "validationActions": ["Deny", "Warn", "Deny", "x"], "paramRef": {}}},
        [
            "spec.policyName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "spec.paramRef: Required value: one of name or selector must be specified",
            "spec.paramRef.parameterNotFoundAction: Required value",
            'spec.validationActions[2]: Duplicate value: "Deny"',
            'spec.validationActions[3]: Unsupported value: "x": supported values: "Audit", "Deny", "Warn"',
            'spec.validationActions: Invalid value: ["Deny","Warn","Deny","x"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
        ],
    ),
    (
        {
            "spec": {
                "policyName": "a",
                "validationActions": ["Deny"],
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
]
COMPLETED: list[Any] = [
    (
        {
            "spec": {
                "policyName": "a",
                "validationActions": ["Deny"],
                "matchResources": {},
                "paramRef": {"selector": {"matchLabels": {"b": "c"}}, "parameterNotFoundAction": "Deny"},
            }
        },
        {
            "spec": {
                "policyName": "a",
                "validationActions": ["Deny"],
                "matchResources": {
                    "matchPolicy": "Equivalent",
                    "namespaceSelector": {},
                    "objectSelector": {},
                },
                "paramRef": {"selector": {"matchLabels": {"b": "c"}}, "parameterNotFoundAction": "Deny"},
            }
        },
    ),
    (
        {
            "spec": {
                "policyName": "a",
                "validationActions": ["Deny"],
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
        {
            "spec": {
                "policyName": "a",
                "validationActions": ["Deny"],
                "matchResources": {
                    "resourceRules": [
                        {
                            "operations": ["DELETE"],
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
            }
        },
    ),
]
ROWS: list[Any] = [
    ({"spec": {"policyName": "p", "paramRef": {"name": "a"}}}, ["x", "p", "*/a", "90s"]),
    ({"spec": {"policyName": "p", "paramRef": {"name": "a", "namespace": "n"}}}, ["x", "p", "n/a", "90s"]),
    (
        {
            "spec": {
                "paramRef": {
                    "selector": {
                        "matchLabels": {"a": "b"},
                        "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}],
                    }
                }
            }
        },
        [
            "x",
            "",
            "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}",
            "90s",
        ],
    ),
    ({}, ["x", "", "<unset>", "90s"]),
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
