"""ResourceClaimTemplate: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api import kinds

make = partial(kinds.make, "resource.k8s.io/v1", "ResourceClaimTemplate")
REFUSED: list[Any] = [
    (
        {
            "spec": {
                "metadata": {"labels": {"a b": "c d"}, "annotations": {"a b": "x"}},
                "spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a"}}]}},
            }
        },
        [
            "spec.metadata.annotations: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "spec.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "spec.metadata.labels: Invalid value: \"c d\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ],
    )
]
COMPLETED: list[Any] = [
    (
        {"spec": {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a"}}]}}}},
        {
            "spec": {
                "spec": {
                    "devices": {
                        "requests": [
                            {
                                "name": "a",
                                "exactly": {
                                    "deviceClassName": "a",
                                    "allocationMode": "ExactCount",
                                    "count": 1,
                                },
                            }
                        ]
                    }
                },
                "metadata": {},
            }
        },
    )
]
ROWS: list[Any] = [({}, ["x", "90s"])]


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
