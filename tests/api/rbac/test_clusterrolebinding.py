"""ClusterRoleBinding: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding")
REFUSED: list[Any] = [
    (
        {"roleRef": {"kind": "Role", "name": "a/%"}, "subjects": [{"kind": "ServiceAccount", "name": "a"}]},
        [
            'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
            "roleRef.name: Invalid value: \"a/%\": may not contain '/'",
            "roleRef.name: Invalid value: \"a/%\": may not contain '%'",
            "subjects[0].namespace: Required value",
        ],
    )
]
UPDATES: list[Any] = [
    (
        {"roleRef": {"kind": "ClusterRole", "name": "a"}},
        {"roleRef.name": "b"},
        [
            'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"b"}: field is immutable'
        ],
    )
]
ROWS: list[Any] = [
    ({"roleRef": {"kind": "ClusterRole", "name": "a"}}, ["x", "ClusterRole/a", "90s", "", "", ""])
]

test_refused = tables.refused(make, REFUSED)
test_updates = tables.updated(make, UPDATES)
test_row = tables.printed(make, ROWS)
