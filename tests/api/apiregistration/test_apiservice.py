"""APIService: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "apiregistration.k8s.io/v1", "APIService")
REFUSED: list[Any] = [
    (
        {"spec": {}},
        [
            'metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "."',
            "spec.group: Required value: only v1 may have an empty group and it better be legacy kube",
            "spec.version: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
            "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
        ],
    ),
    (
        {
            "metadata": {"name": "v1.a.b"},
            "spec": {
                "group": "a.b",
                "version": "v1",
                "groupPriorityMinimum": 100,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,
                "caBundle": "YWJj",
            },
        },
        [
            'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
            "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
        ],
    ),
    (
        {
            "metadata": {"name": "v1.a.b"},
            "spec": {
                "group": "a.b",
                "version": "v1",
                "groupPriorityMinimum": 20001,
                "versionPriority": 1001,
                "service": {},
            },
        },
        [
            "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
            "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000",
            "spec.service.namespace: Required value",
            "spec.service.name: Required value",
        ],
    ),
    (
        {
            "metadata": {"name": "v1.a.b"},
            "spec": {
                "group": "a.b",
                "version": "v1",
                "groupPriorityMinimum": 2000,
                "versionPriority": 100,
                "service": {"name": "a", "namespace": "b", "port": 0},
                "caBundle": "YWJj",
                "insecureSkipTLSVerify": True,
            },
        },
        [
            "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
            "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present",
        ],
    ),
    (
        {"metadata": {"name": "A.B"}, "spec": {"group": "B", "version": "A"}},
        [
            "spec.group: Invalid value: \"B\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "spec.version: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
            "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
        ],
    ),
    (
        {"metadata": {"name": "a/b"}, "spec": {}},
        [
            "metadata.name: Invalid value: \"a/b\": may not contain '/'",
            "spec.group: Required value: only v1 may have an empty group and it better be legacy kube",
            "spec.version: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
            "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
        ],
    ),
]
STATUSES: list[Any] = [
    (
        {
            "metadata": {"name": "v1.a.b"},
            "spec": {"group": "a.b", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10},
        },
        {"conditions": [{"type": "Available", "status": "x"}]},
        ['status.conditions[0].status: Unsupported value: "x": supported values: "True", "False", "Unknown"'],
    )
]
ROWS: list[Any] = [
    (
        {
            "metadata": {"name": "v1.a.b"},
            "spec": {"group": "a.b", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10},
        },
        ["v1.a.b", "Local", "Unknown", "90s"],
    ),
    (
        {
            "spec": {"service": {"namespace": "n", "name": "s"}},
            "status": {"conditions": [{"type": "Available", "status": "False", "reason": "Gone"}]},
        },
        ["x", "n/s", "False (Gone)", "90s"],
    ),
]

test_refused = tables.refused(make, REFUSED)
test_status = tables.reported(make, STATUSES)
test_row = tables.printed(make, ROWS)
