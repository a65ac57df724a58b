"""FlowSchema: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "flowcontrol.apiserver.k8s.io/v1", "FlowSchema")
REFUSED: list[Any] = [
    (
        {
            "spec": {
                "matchingPrecedence": 20000,
                "distinguisherMethod": {"type": "x"},
                "rules": [
                    {
                        "subjects": [
                            {"kind": "User"},
                            {"kind": "Group", "group": {}, "user": {"name": "a"}},
                            {
                                "kind": "ServiceAccount",
                                "serviceAccount": {},
                                "group": {"name": "a"},
                                "user": {"name": "b"},
                            },
                            {
                                "kind": "User",
                                "user": {"name": "q"},
                                "group": {"name": "a"},
                                "serviceAccount": {},
                            },
                            {"kind": "x"},
                        ],
                        "resourceRules": [
                            {"verbs": ["*", "x"]},
                            {
                                "verbs": ["x"],
                                "apiGroups": ["*", "a"],
                                "resources": ["*", "a"],
                                "namespaces": ["*", "d"],
                            },
                            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["A"]},
                        ],
                        "nonResourceRules": [
                            {"verbs": ["x"], "nonResourceURLs": ["", "a", "/a b", "/a//b", "/a*"]}
                        ],
                    },
                    {},
                ],
            }
        },
        [
            "spec.matchingPrecedence: Invalid value: 20000: must not be greater than 10000",
            'spec.distinguisherMethod.type: Unsupported value: {"Type":"x"}: supported values: "ByNamespace", "ByUser"',
            "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
            "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
            "spec.rules[0].subjects[1].group.name: Required value",
            "spec.rules[0].subjects[1].user: Forbidden: user is forbidden when subject kind is not 'User'",
            "spec.rules[0].subjects[2].serviceAccount.name: Required value",
            "spec.rules[0].subjects[2].serviceAccount.namespace: Required value: must specify namespace for service account",
            "spec.rules[0].subjects[2].user: Forbidden: user is forbidden when subject kind is not 'User'",
            "spec.rules[0].subjects[2].group: Forbidden: group is forbidden when subject kind is not 'Group'",
            "spec.rules[0].subjects[3].serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'",
            "spec.rules[0].subjects[3].group: Forbidden: group is forbidden when subject kind is not 'Group'",
            'spec.rules[0].subjects[4].kind: Unsupported value: "x": supported values: "Group", "ServiceAccount", "User"',
            'spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","x"]: if \'*\' is present, must not specify other verbs',
            "spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource",
            "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
            'spec.rules[0].resourceRules[1].verbs: Unsupported value: ["x"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
            'spec.rules[0].resourceRules[1].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other api groups',
            'spec.rules[0].resourceRules[1].resources: Invalid value: ["*","a"]: if \'*\' is present, must not specify other resources',
            'spec.rules[0].resourceRules[1].namespaces: Invalid value: ["*","d"]: if \'*\' is present, must not specify other namespaces',
            "spec.rules[0].resourceRules[2].namespaces[0]: Invalid value: \"A\": each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            'spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["x"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
            'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "": must not be empty',
            'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "a": must start with slash',
            'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a b": must not contain white-space',
            'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a//b": must not contain double slash',
            'spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/a*": wildcard can only do suffix matching',
            "spec.rules[1].subjects: Required value: subjects must contain at least one value",
            "spec.rules[1]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
        ],
    ),
    (
        {"spec": {"priorityLevelConfiguration": {"name": "B"}, "matchingPrecedence": 1}},
        [
            "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
            "spec.priorityLevelConfiguration.name: Invalid value: \"B\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        ],
    ),
    (
        {"metadata": {"name": "exempt"}},
        [
            "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
            "spec: Invalid value: {\"matchingPrecedence\":1000}: spec of 'exempt' must equal the fixed value",
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {
            "spec": {
                "priorityLevelConfiguration": {"name": "exempt"},
                "distinguisherMethod": {"type": "ByUser"},
                "rules": [
                    {
                        "subjects": [{"kind": "User", "user": {"name": "x"}}],
                        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/a/*"]}],
                    }
                ],
            }
        },
        {
            "spec": {
                "priorityLevelConfiguration": {"name": "exempt"},
                "distinguisherMethod": {"type": "ByUser"},
                "rules": [
                    {
                        "subjects": [{"kind": "User", "user": {"name": "x"}}],
                        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/a/*"]}],
                    }
                ],
                "matchingPrecedence": 1000,
            },
            "status": {},
        },
    )
]
STATUSES: list[Any] = [
    (
        {},
        {"conditions": [{}, {"type": "a"}, {"type": "a"}]},
        ["status.conditions[0].type: Required value", 'status.conditions[2].type: Duplicate value: "a"'],
    )
]
ROWS: list[Any] = [
    (
        {
            "spec": {"priorityLevelConfiguration": {"name": "a"}, "distinguisherMethod": {"type": "ByUser"}},
            "status": {"conditions": [{"type": "Dangling", "status": "False"}]},
        },
        ["x", "a", 1000, "ByUser", "90s", "False"],
    ),
    ({}, ["x", "", 1000, "<none>", "90s", "?"]),
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_status = tables.reported(make, STATUSES)
test_row = tables.printed(make, ROWS)
