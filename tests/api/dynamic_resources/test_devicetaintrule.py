"""DeviceTaintRule: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "resource.k8s.io/v1", "DeviceTaintRule")
REFUSED: list[Any] = [
    (
        {"spec": {}},
        [
            'spec.taint.key: Invalid value: "": name part must be non-empty',
            "spec.taint.key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "spec.taint.effect: Required value",
        ],
    ),
    (
        {
            "spec": {
                "deviceSelector": {"driver": "A_", "pool": "A//b", "device": "A"},
                "taint": {"key": "a b", "value": "c d", "effect": "x"},
            }
        },
        [
            "spec.deviceSelector.driver: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "spec.deviceSelector.pool: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "spec.deviceSelector.pool: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "spec.deviceSelector.device: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            "spec.taint.key: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "spec.taint.value: Invalid value: \"c d\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            'spec.taint.effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "None"',
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {"spec": {"taint": {"key": "a", "effect": "NoSchedule", "timeAdded": "2020-01-01T00:00:00Z"}}},
        {
            "spec": {"taint": {"key": "a", "effect": "NoSchedule", "timeAdded": "2020-01-01T00:00:00Z"}},
            "status": {},
        },
    )
]
STATUSES: list[Any] = [
    (
        {"spec": {"taint": {"key": "a", "effect": "NoSchedule"}}},
        {"conditions": [{}]},
        [
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
                "taint": {
                    "key": "k",
                    "value": "v",
                    "effect": "NoSchedule",
                    "timeAdded": "2026-01-02T03:04:05Z",
                }
            }
        },
        ["x", "k", "v", "NoSchedule", "90s", "90s"],
    )
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_status = tables.reported(make, STATUSES)
test_row = tables.printed(make, ROWS)
