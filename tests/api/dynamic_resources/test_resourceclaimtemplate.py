"""ResourceClaimTemplate: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

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

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
