"""DeviceClass: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "resource.k8s.io/v1", "DeviceClass")
REFUSED: list[Any] = [
    (
        {"spec": {"selectors": [{}], "config": [{}], "extendedResourceName": "cpu"}},
        [
            "spec.selectors[0].cel: Required value",
            "spec.config[0].opaque: Required value",
            "spec.extendedResourceName: Invalid value: \"cpu\": a name must be a domain-prefixed path, such as 'example.com/my-prop'",
        ],
    ),
    (
        {
            "spec": {
                "selectors": [
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                    {"cel": {"expression": "true"}},
                ],
                "extendedResourceName": "a.b/c",
            }
        },
        ["spec.selectors: Too many: 33: must have at most 32 items"],
    ),
]
COMPLETED: list[Any] = [({"spec": {}}, {"spec": {}})]
ROWS: list[Any] = [({}, ["x", "90s"])]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
