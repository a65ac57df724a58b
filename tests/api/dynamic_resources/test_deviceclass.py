"""DeviceClass: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api import kinds

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
