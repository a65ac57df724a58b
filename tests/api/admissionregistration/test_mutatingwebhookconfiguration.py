"""MutatingWebhookConfiguration: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
REFUSED: list[Any] = [
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                },
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                },
            ]
        },
        ['webhooks[1].name: Duplicate value: "a.b.c"'],
    ),
    (
        {"webhooks": [{}]},
        [
            "webhooks[0].name: Required value",
            "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
            "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
            "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
        ],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "http://u:p@/a?b#c"},
                }
            ]
        },
        [
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
            'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
            'webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
            'webhooks[0].clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
            'webhooks[0].clientConfig.url: Invalid value: "b": query parameters are not permitted in the URL',
        ],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"service": {"name": "a"}},
                }
            ]
        },
        ["webhooks[0].clientConfig.service.name: Required value"],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"service": {"namespace": "a", "port": 0}},
                }
            ]
        },
        [
            "webhooks[0].clientConfig.service.namespace: Required value",
            "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
        ],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"service": {"namespace": "a", "name": "n", "path": "a//b/"}},
                }
            ]
        },
        [
            "webhooks[0].clientConfig.service.path: Invalid value: \"a//b/\": must start with a '/'",
            'webhooks[0].clientConfig.service.path: Invalid value: "a//b/": segment[0] may not be empty',
            'webhooks[0].clientConfig.service.path: Invalid value: "a//b/": segment[1] may not be empty',
        ],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"service": {"namespace": "a", "name": "n", "path": "//"}},
                }
            ]
        },
        ['webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty'],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b",
                    "sideEffects": "Some",
                    "admissionReviewVersions": ["v2", "v2", "A"],
                    "clientConfig": {"url": "https://x/y"},
                    "failurePolicy": "x",
                    "matchPolicy": "y",
                    "timeoutSeconds": 31,
                    "reinvocationPolicy": "z",
                    "namespaceSelector": {"matchLabels": {"a b": "c d"}},
                }
            ]
        },
        [
            'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
            'webhooks[0].failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"',
            'webhooks[0].matchPolicy: Unsupported value: "y": supported values: "Equivalent", "Exact"',
            'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
            "webhooks[0].namespaceSelector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "webhooks[0].namespaceSelector.matchLabels: Invalid value: \"c d\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            'webhooks[0].reinvocationPolicy: Unsupported value: "z": supported values: "IfNeeded", "Never"',
            'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
            "webhooks[0].admissionReviewVersions[2]: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2","A"]: must include at least one of v1, v1beta1',
        ],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                    "rules": [
                        {},
                        {
                            "operations": ["*", "CREATE", "x"],
                            "apiGroups": ["*", "a"],
                            "apiVersions": ["*", "", "b"],
                            "resources": ["*", "", "pods", "pods/*", "pods/a", "*/a", "x/a", "*/*"],
                            "scope": "q",
                        },
                        {
                            "operations": ["CREATE"],
                            "apiGroups": ["authentication.k8s.io"],
                            "apiVersions": ["v1"],
                            "resources": ["tokenreviews", "tokenreviews"],
                        },
                    ],
                }
            ]
        },
        [
            "webhooks[0].rules[0].operations: Required value",
            "webhooks[0].rules[0].apiGroups: Required value",
            "webhooks[0].rules[0].apiVersions: Required value",
            "webhooks[0].rules[0].resources: Required value",
            'webhooks[0].rules[1].operations: Invalid value: ["*","CREATE","x"]: if \'*\' is present, must not specify other operations',
            'webhooks[0].rules[1].operations[2]: Unsupported value: "x": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
            'webhooks[0].rules[1].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups',
            'webhooks[0].rules[1].apiVersions: Invalid value: ["*","","b"]: if \'*\' is present, must not specify other API versions',
            "webhooks[0].rules[1].apiVersions[1]: Required value",
            "webhooks[0].rules[1].resources[1]: Required value",
            "webhooks[0].rules[1].resources[4]: Invalid value: \"pods/a\": if 'pods/*' is present, must not specify pods/a",
            "webhooks[0].rules[1].resources[6]: Invalid value: \"x/a\": if '*/a' is present, must not specify x/a",
            'webhooks[0].rules[1].resources: Invalid value: ["*","","pods","pods/*","pods/a","*/a","x/a","*/*"]: if \'*/*\' is present, must not specify other resources',
            'webhooks[0].rules[1].resources: Invalid value: ["*","","pods","pods/*","pods/a","*/a","x/a","*/*"]: if \'*\' is present, must not specify other resources without subresources',
            'webhooks[0].rules[1].scope: Unsupported value: "q": supported values: "*", "Cluster", "Namespaced"',
        ],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                    "matchConditions": [
                        {},
                        {"name": "a b", "expression": " "},
                        {"name": "c", "expression": "true"},
                        {"name": "c", "expression": "true"},
                    ],
                }
            ]
        },
        [
            "webhooks[0].matchConditions[0].expression: Required value",
            "webhooks[0].matchConditions[0].name: Required value",
            "webhooks[0].matchConditions[1].expression: Required value",
            "webhooks[0].matchConditions[1].name: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            'webhooks[0].matchConditions[3].name: Duplicate value: "c"',
        ],
    ),
    (
        {
            "webhooks": [
                {
                    "name": "A_",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                }
            ]
        },
        [
            "webhooks[0].name: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
        ],
    ),
]
COMPLETED: list[Any] = [
    ({"webhooks": []}, {}),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                }
            ]
        },
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                    "failurePolicy": "Fail",
                    "matchPolicy": "Equivalent",
                    "namespaceSelector": {},
                    "objectSelector": {},
                    "timeoutSeconds": 10,
                    "reinvocationPolicy": "Never",
                }
            ]
        },
    ),
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                    "rules": [
                        {
                            "operations": ["CREATE"],
                            "apiGroups": ["authentication.k8s.io"],
                            "apiVersions": ["v1"],
                            "resources": ["tokenreviews", "tokenreviews"],
                        }
                    ],
                }
            ]
        },
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                    "rules": [
                        {
                            "operations": ["CREATE"],
                            "apiGroups": ["authentication.k8s.io"],
                            "apiVersions": ["v1"],
                            "resources": ["tokenreviews", "tokenreviews"],
                            "scope": "*",
                        }
                    ],
                    "failurePolicy": "Fail",
                    "matchPolicy": "Equivalent",
                    "namespaceSelector": {},
                    "objectSelector": {},
                    "timeoutSeconds": 10,
                    "reinvocationPolicy": "Never",
                }
            ]
        },
    ),
]
ROWS: list[Any] = [
    (
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                }
            ]
        },
        ["x", 1, "90s"],
    )
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
