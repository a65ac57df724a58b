"""Lease: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api import kinds

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


@pytest.mark.parametrize(("fields", "errors"), REFUSED)
def test_refused(fields: Any, errors: Any) -> None:
    assert kinds.create_errors(make(fields)) == errors


@pytest.mark.parametrize(("fields", "expected"), COMPLETED)
def test_completed(fields: Any, expected: Any) -> None:
    obj = kinds.created(make(fields))
    assert {key: obj[key] for key in obj if key not in ("apiVersion", "kind", "metadata")} == expected
    assert kinds.create_errors(make(fields)) == []


@pytest.mark.parametrize(("fields", "change", "errors"), UPDATES)
def test_updates(fields: Any, change: Any, errors: Any) -> None:
    assert kinds.update_errors(make(fields), change) == errors


@pytest.mark.parametrize(("fields", "row"), ROWS)
def test_row(fields: Any, row: Any) -> None:
    assert kinds.cells(make(fields)) == row
