"""ValidatingWebhookConfiguration: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api import kinds

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


@pytest.mark.parametrize(("fields", "errors"), REFUSED)
def test_refused(fields: Any, errors: Any) -> None:
    assert kinds.create_errors(make(fields)) == errors


@pytest.mark.parametrize(("fields", "expected"), COMPLETED)
def test_completed(fields: Any, expected: Any) -> None:
    obj = kinds.created(make(fields))
    assert {key: obj[key] for key in obj if key not in ("apiVersion", "kind", "metadata")} == expected
    assert kinds.create_errors(make(fields)) == []


@pytest.mark.parametrize(("fields", "row"), ROWS)
def test_row(fields: Any, row: Any) -> None:
    assert kinds.cells(make(fields)) == row
