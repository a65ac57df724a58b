"""ValidatingWebhookConfiguration: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
REFUSED: list[Any] = [
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
    (
        {"metadata": {"name": "x.static.k8s.io"}},
        [
            'metadata.name: Invalid value: "x.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API'
        ],
    ),
]
COMPLETED: list[Any] = [
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
                }
            ]
        },
    )
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
                },
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://x/y"},
                },
            ]
        },
        ["x", 2, "90s"],
    )
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
