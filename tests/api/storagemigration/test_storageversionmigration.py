"""StorageVersionMigration: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "storagemigration.k8s.io/v1", "StorageVersionMigration")
REFUSED: list[Any] = [
    ({"spec": {}}, ["spec.resource.resource: Required value: resource is required to be set"]),
    (
        {"spec": {"resource": {"resource": "A", "group": "B"}}},
        [
            "spec.resource.resource: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.resource.group: Invalid value: \"B\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {"spec": {"resource": {"resource": "pods"}}},
        {"spec": {"resource": {"resource": "pods", "group": ""}}, "status": {}},
    ),
    (
        {"spec": {"resource": {"resource": "deployments", "group": "apps"}}},
        {"spec": {"resource": {"resource": "deployments", "group": "apps"}}, "status": {}},
    ),
]
UPDATES: list[Any] = [
    (
        {"spec": {"resource": {"resource": "pods"}}},
        {"spec.resource.resource": "nodes"},
        ['spec: Invalid value: {"Resource":{"group":"","resource":"nodes"}}: field is immutable'],
    )
]
STATUSES: list[Any] = [
    (
        {},
        {"resourceVersion": "x"},
        ['status.resourceVersion: Invalid value: "x": resource version is not well formed: x'],
    ),
    (
        {},
        {
            "conditions": [
                {
                    "type": "Failed",
                    "status": "True",
                    "reason": "R",
                    "lastTransitionTime": "2026-01-02T03:04:05Z",
                },
                {
                    "type": "Succeeded",
                    "status": "True",
                    "reason": "R",
                    "lastTransitionTime": "2026-01-02T03:04:05Z",
                },
            ]
        },
        [
            'status.conditions: Invalid value: [{"lastTransitionTime":"2026-01-02T03:04:05Z","reason":"R","status":"True","type":"Failed"},{"lastTransitionTime":"2026-01-02T03:04:05Z","reason":"R","status":"True","type":"Succeeded"}]: Both success and failed conditions cannot be true at the same time'
        ],
    ),
]
ROWS: list[Any] = [
    (
        {
            "spec": {"resource": {"resource": "deployments", "group": "apps"}},
            "status": {
                "conditions": [
                    {"type": "Running", "status": "False"},
                    {"type": "Succeeded", "status": "True"},
                ]
            },
        },
        ["x", "deployments.apps", "Succeeded"],
    ),
    ({"spec": {"resource": {"resource": "pods"}}}, ["x", "pods", "Unknown"]),
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_updates = tables.updated(make, UPDATES)
test_status = tables.reported(make, STATUSES)
test_row = tables.printed(make, ROWS)
