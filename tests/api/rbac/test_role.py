"""Role: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api import kinds

make = partial(kinds.make, "rbac.authorization.k8s.io/v1", "Role")
REFUSED: list[Any] = [
    (
        {"rules": [{}]},
        [
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[0].resources: Required value: resource rules must supply at least one resource",
            "rules[0].verbs: Required value",
        ],
    ),
    (
        {
            "metadata": {"name": "a/b"},
            "rules": [{"verbs": ["a"], "nonResourceURLs": ["/a"], "resources": ["a"]}],
        },
        [
            "metadata.name: Invalid value: \"a/b\": may not contain '/'",
            'rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs',
            'rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs',
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {"metadata": {"name": "a:b"}, "rules": [{"verbs": ["a"], "apiGroups": [""], "resources": ["a"]}]},
        {"rules": [{"verbs": ["a"], "apiGroups": [""], "resources": ["a"]}]},
    )
]
ROWS: list[Any] = [({}, ["x", "2026-01-02T03:04:05Z"])]


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
