"""RuntimeClass: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "node.k8s.io/v1", "RuntimeClass")
REFUSED: list[Any] = [
    (
        {"handler": "A.b", "scheduling": {"tolerations": [{"key": "", "operator": "x", "effect": "q"}]}},
        [
            'scheduling.tolerations[0].operator: Invalid value: "x": operator must be Exists when `key` is empty, which means "match all values and all keys"',
            'scheduling.tolerations[0].operator: Unsupported value: "x": supported values: "Equal", "Exists"',
            'scheduling.tolerations[0].effect: Unsupported value: "q": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
            "handler: Invalid value: \"A.b\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        ],
    ),
    (
        {
            "overhead": {"podFixed": {"cpu": "-1", "x.y/": "3"}},
            "scheduling": {
                "nodeSelector": {"beta.kubernetes.io/os": "x"},
                "tolerations": [{"key": "a"}, {"key": "a"}],
            },
        },
        [
            'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            'overhead.limits[x.y/]: Invalid value: "x.y/": name part must be non-empty',
            "overhead.limits[x.y/]: Invalid value: \"x.y/\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            'overhead.limits[x.y/]: Invalid value: "x.y/": doesn\'t follow extended resource name standard',
            'scheduling.tolerations[1]: Duplicate value: {"Key":"a","Operator":"","Value":"","Effect":"","TolerationSeconds":null}',
            "handler: Required value",
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {
            "handler": "a",
            "overhead": {"podFixed": {"cpu": "1", "memory": "1.5Mi"}},
            "scheduling": {"tolerations": [{"key": "a"}], "nodeSelector": {"beta.kubernetes.io/os": "a"}},
        },
        {
            "handler": "a",
            "overhead": {"podFixed": {"cpu": "1", "memory": "1536Ki"}},
            "scheduling": {"tolerations": [{"key": "a"}], "nodeSelector": {"beta.kubernetes.io/os": "a"}},
        },
    )
]
UPDATES: list[Any] = [
    ({"handler": "a"}, {"handler": "b"}, ["handler: Invalid value: null: field is immutable"])
]
ROWS: list[Any] = [({"handler": "runc"}, ["x", "runc", "90s"])]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_updates = tables.updated(make, UPDATES)
test_row = tables.printed(make, ROWS)
