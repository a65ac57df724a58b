"""PriorityClass: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "scheduling.k8s.io/v1", "PriorityClass")
REFUSED: list[Any] = [
    (
        {"value": 2000000000, "preemptionPolicy": "a"},
        [
            "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
            'preemptionPolicy: Unsupported value: "a": supported values: "PreemptLowerPriority", "Never"',
        ],
    ),
    (
        {"metadata": {"name": "system-a"}, "value": 3},
        [
            "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-a is not a known system priority class"
        ],
    ),
    (
        {"metadata": {"name": "system-node-critical"}, "value": 3},
        [
            "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000"
        ],
    ),
    (
        {
            "metadata": {"name": "system-node-critical"},
            "value": 2000001000,
            "globalDefault": True,
            "preemptionPolicy": "",
        },
        [
            "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: globalDefault of system-node-critical PriorityClass must be false",
            "preemptionPolicy: Required value",
        ],
    ),
]
COMPLETED: list[Any] = [
    ({"value": 3}, {"value": 3, "preemptionPolicy": "PreemptLowerPriority"}),
    ({}, {"value": 0, "preemptionPolicy": "PreemptLowerPriority"}),
]
UPDATES: list[Any] = [
    ({"value": 3}, {"value": 4}, ["value: Forbidden: may not be changed in an update."]),
    (
        {"value": 3},
        {"preemptionPolicy": "Never"},
        ['preemptionPolicy: Invalid value: "Never": field is immutable'],
    ),
    ({"value": 3}, {"description": "x"}, []),
]
ROWS: list[Any] = [
    ({"value": 5, "globalDefault": True}, ["x", 5, True, "90s", "PreemptLowerPriority"]),
    ({}, ["x", 0, False, "90s", "PreemptLowerPriority"]),
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_updates = tables.updated(make, UPDATES)
test_row = tables.printed(make, ROWS)
