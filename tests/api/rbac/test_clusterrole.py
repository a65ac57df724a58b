"""ClusterRole: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api import kinds

make = partial(kinds.make, "rbac.authorization.k8s.io/v1", "ClusterRole")
REFUSED: list[Any] = [
    (
        {
            "aggregationRule": {
                "clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "x"}]}]
            }
        },
        [
            'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "x": not a valid selector operator',
            "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
        ],
    ),
    (
        {"aggregationRule": {}},
        [
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]},
        {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]},
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
