"""Role: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

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

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_row = tables.printed(make, ROWS)
