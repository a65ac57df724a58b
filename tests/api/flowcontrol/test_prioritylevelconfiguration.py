"""PriorityLevelConfiguration: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration")
REFUSED: list[Any] = [
    ({"spec": {"type": "Limited"}}, ["spec.limited: Required value"]),
    ({"spec": {"type": "x"}}, ['spec.type: Unsupported value: "x": supported values: "Exempt", "Limited"']),
    ({}, ["spec.type: Required value"]),
    (
        {"spec": {"type": "Exempt", "limited": {"limitResponse": {}}, "exempt": {"lendablePercent": 200}}},
        [
            "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
            "spec.exempt.lendablePercent: Invalid value: 200: must be between 0 and 100, inclusive",
            "spec.limited: Forbidden",
            "spec.limited.limitResponse.type: Required value",
        ],
    ),
    (
        {
            "spec": {
                "type": "Limited",
                "limited": {
                    "nominalConcurrencyShares": -1,
                    "lendablePercent": 101,
                    "borrowingLimitPercent": -1,
                    "limitResponse": {
                        "type": "Queue",
                        "queuing": {"queues": 10000000, "handSize": 9, "queueLengthLimit": -1},
                    },
                },
                "exempt": {"lendablePercent": 200},
            }
        },
        [
            "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
            "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive",
            "spec.limited.limitResponse.queuing.handSize: Invalid value: 9: required entropy bits of deckSize 10000000 and handSize 9 should not be greater than 60",
            "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
            "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer",
            "spec.exempt: Forbidden",
        ],
    ),
    (
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "x"}}}},
        ['spec.limited.limitResponse.type: Unsupported value: "x": supported values: "Queue", "Reject"'],
    ),
    (
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue"}}}},
        ["spec.limited.limitResponse.queuing: Required value"],
    ),
    (
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject", "queuing": {}}}}},
        ["spec.limited.limitResponse.queuing: Forbidden"],
    ),
]
COMPLETED: list[Any] = [
    (
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}},
        {
            "spec": {
                "type": "Limited",
                "limited": {
                    "limitResponse": {
                        "type": "Queue",
                        "queuing": {"handSize": 8, "queues": 64, "queueLengthLimit": 50},
                    },
                    "nominalConcurrencyShares": 30,
                    "lendablePercent": 0,
                },
            },
            "status": {},
        },
    )
]
ROWS: list[Any] = [
    (
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}},
        ["x", "Limited", 30, 64, 8, 50, "90s"],
    ),
    ({"spec": {"type": "Exempt"}}, ["x", "Exempt", "<none>", "<none>", "<none>", "<none>", "90s"]),
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
