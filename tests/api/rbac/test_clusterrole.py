"""ClusterRole: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

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

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
