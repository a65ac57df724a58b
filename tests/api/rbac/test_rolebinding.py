"""RoleBinding: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "rbac.authorization.k8s.io/v1", "RoleBinding")
REFUSED: list[Any] = [
    (
        {"roleRef": {}, "subjects": [{}, {"kind": "User"}, {"kind": "ServiceAccount", "name": "A"}]},
        [
            'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
            'subjects[0].kind: Unsupported value: "": supported values: "ServiceAccount", "User", "Group"',
            "subjects[2].name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "subjects[0].name: Required value",
            "subjects[1].name: Required value",
            "roleRef.name: Required value",
        ],
    )
]
COMPLETED: list[Any] = [
    (
        {
            "roleRef": {"kind": "Role", "name": "a"},
            "subjects": [
                {"kind": "User", "name": "A"},
                {"kind": "ServiceAccount", "name": "a"},
                {"kind": "Group", "name": "G", "namespace": "x"},
            ],
        },
        {
            "roleRef": {"kind": "Role", "name": "a", "apiGroup": "rbac.authorization.k8s.io"},
            "subjects": [
                {"kind": "User", "name": "A", "apiGroup": "rbac.authorization.k8s.io"},
                {"kind": "ServiceAccount", "name": "a"},
                {"kind": "Group", "name": "G", "namespace": "x", "apiGroup": "rbac.authorization.k8s.io"},
            ],
        },
    )
]
UPDATES: list[Any] = [
    (
        {"roleRef": {"kind": "Role", "name": "a"}},
        {"roleRef.name": "b"},
        [
            'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: field is immutable'
        ],
    ),
    ({"roleRef": {"kind": "Role", "name": "a"}}, {"subjects": [{"kind": "User", "name": "u"}]}, []),
]
ROWS: list[Any] = [
    (
        {
            "roleRef": {"kind": "Role", "name": "a"},
            "subjects": [
                {"kind": "User", "name": "u"},
                {"kind": "User", "name": "v"},
                {"kind": "Group", "name": "g"},
                {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
            ],
        },
        ["x", "Role/a", "90s", "u, v", "g", "n/s"],
    )
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_updates = tables.updated(make, UPDATES)
test_row = tables.printed(make, ROWS)
