"""Lease: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "coordination.k8s.io/v1", "Lease")
REFUSED: list[Any] = [
    (
        {"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1, "preferredHolder": "x"}},
        [
            "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
            "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
        ],
    )
]
COMPLETED: list[Any] = [
    (
        {"spec": {"holderIdentity": "x", "strategy": "b", "renewTime": "2020-01-01T00:00:00.000001Z"}},
        {"spec": {"holderIdentity": "x", "renewTime": "2020-01-01T00:00:00.000001Z"}},
    ),
    ({}, {"spec": {}}),
]
UPDATES: list[Any] = [
    ({"spec": {"holderIdentity": "a"}}, {"spec.strategy": "x", "spec.holderIdentity": "b"}, [])
]
ROWS: list[Any] = [({"spec": {"holderIdentity": "me"}}, ["x", "me", "90s"]), ({}, ["x", "", "90s"])]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_updates = tables.updated(make, UPDATES)
test_row = tables.printed(make, ROWS)
