"""ResourceClaim: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.api import kinds, tables

make = partial(kinds.make, "resource.k8s.io/v1", "ResourceClaim")
REFUSED: list[Any] = [
    (
        {
            "spec": {
                "devices": {
                    "requests": [
                        {"name": "A"},
                        {"name": "b", "exactly": {"deviceClassName": "A", "allocationMode": "x"}},
                        {"name": "b", "exactly": {"deviceClassName": "", "count": -1}},
                        {
                            "name": "c",
                            "exactly": {
                                "deviceClassName": "a",
                                "allocationMode": "All",
                                "count": 3,
                                "selectors": [{}, {"cel": {"expression": "true"}}],
                                "tolerations": [
                                    {},
                                    {"key": "a b", "operator": "x", "effect": "y"},
                                    {"operator": "Exists", "value": "q"},
                                    {"operator": "Equal", "value": "a b"},
                                ],
                            },
                        },
                    ],
                    "constraints": [
                        {},
                        {"requests": ["a", "a", "z", "b/c", "a/b/c"], "matchAttribute": "x"},
                        {"distinctAttribute": "a.b/c"},
                        {"matchAttribute": "/"},
                    ],
                    "config": [
                        {},
                        {"opaque": {}},
                        {"opaque": {"driver": "A_", "parameters": 3}},
                        {"requests": ["b"], "opaque": {"driver": "a.b", "parameters": {"x": 1}}},
                    ],
                }
            }
        },
        [
            "spec.devices.requests[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
            "spec.devices.requests[1].exactly.deviceClassName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "spec.devices.requests[2].exactly.deviceClassName: Required value",
            "spec.devices.requests[2].exactly.count: Invalid value: -1: must be greater than zero",
            "spec.devices.requests[3].exactly.selectors[0].cel: Required value",
            "spec.devices.requests[3].exactly.count: Invalid value: 3: must not be specified when allocationMode is 'All'",
            'spec.devices.requests[3].exactly.tolerations[2].value: Invalid value: "q": must be empty for operator `Exists`',
            "spec.devices.requests[3].exactly.tolerations[3].value: Invalid value: \"a b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
            "spec.devices.constraints[1].requests[0]: Invalid value: \"a\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
            "spec.devices.constraints[1].requests[1]: Invalid value: \"a\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
            "spec.devices.constraints[1].requests[2]: Invalid value: \"z\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
            "spec.devices.constraints[1].requests[3]: Invalid value: \"b/c\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
            "spec.devices.constraints[1].requests[4]: Invalid value: \"a/b/c\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
            "spec.devices.config[0].opaque: Required value",
            "spec.devices.config[1].opaque.parameters: Required value",
            'spec.devices.config[2].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
            'spec.devices.requests[2]: Duplicate value: {"name":"b","exactly":{"allocationMode":"ExactCount","count":-1,"deviceClassName":""}}',
            'spec.devices.requests[1].exactly.allocationMode: Unsupported value: "x": supported values: "All", "ExactCount"',
            "spec.devices.requests[3].exactly.tolerations[1].key: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            'spec.devices.requests[3].exactly.tolerations[1].operator: Unsupported value: "x": supported values: "Equal", "Exists"',
            'spec.devices.requests[3].exactly.tolerations[1].effect: Unsupported value: "y": supported values: "NoExecute", "NoSchedule", "None"',
            'spec.devices.constraints[1].requests[1]: Duplicate value: "a"',
            'spec.devices.constraints[1].matchAttribute: Invalid value: "x": a fully qualified name must be a domain and a name separated by a slash',
            'spec.devices.constraints[3].matchAttribute: Invalid value: "": prefix must not be empty',
            'spec.devices.constraints[3].matchAttribute: Invalid value: "": name must not be empty',
            "spec.devices.config[1].opaque.driver: Required value",
            "spec.devices.config[2].opaque.driver: Invalid value: \"A_\": an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        ],
    ),
    (
        {
            "spec": {
                "devices": {
                    "requests": [
                        {
                            "name": "a",
                            "firstAvailable": [
                                {"name": "x", "deviceClassName": "a"},
                                {"name": "x", "deviceClassName": ""},
                                {"name": "", "deviceClassName": "A"},
                            ],
                        },
                        {
                            "name": "q",
                            "exactly": {"deviceClassName": "a"},
                            "firstAvailable": [{"name": "x", "deviceClassName": "a"}],
                        },
                    ]
                }
            }
        },
        [
            "spec.devices.requests[0].firstAvailable[2].name: Invalid value: \"\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            "spec.devices.requests[1]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
            'spec.devices.requests[0].firstAvailable[1]: Duplicate value: {"name":"x","deviceClassName":"","allocationMode":"ExactCount","count":1}',
            "spec.devices.requests[0].firstAvailable[1].deviceClassName: Required value",
            "spec.devices.requests[0].firstAvailable[2].deviceClassName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        ],
    ),
    (
        {
            "spec": {
                "devices": {
                    "requests": [
                        {"name": "a0", "exactly": {"deviceClassName": "a"}},
                        {"name": "a1", "exactly": {"deviceClassName": "a"}},
                        {"name": "a2", "exactly": {"deviceClassName": "a"}},
                        {"name": "a3", "exactly": {"deviceClassName": "a"}},
                        {"name": "a4", "exactly": {"deviceClassName": "a"}},
                        {"name": "a5", "exactly": {"deviceClassName": "a"}},
                        {"name": "a6", "exactly": {"deviceClassName": "a"}},
                        {"name": "a7", "exactly": {"deviceClassName": "a"}},
                        {"name": "a8", "exactly": {"deviceClassName": "a"}},
                        {"name": "a9", "exactly": {"deviceClassName": "a"}},
                        {"name": "a10", "exactly": {"deviceClassName": "a"}},
                        {"name": "a11", "exactly": {"deviceClassName": "a"}},
                        {"name": "a12", "exactly": {"deviceClassName": "a"}},
                        {"name": "a13", "exactly": {"deviceClassName": "a"}},
                        {"name": "a14", "exactly": {"deviceClassName": "a"}},
                        {"name": "a15", "exactly": {"deviceClassName": "a"}},
                        {"name": "a16", "exactly": {"deviceClassName": "a"}},
                        {"name": "a17", "exactly": {"deviceClassName": "a"}},
                        {"name": "a18", "exactly": {"deviceClassName": "a"}},
                        {"name": "a19", "exactly": {"deviceClassName": "a"}},
                        {"name": "a20", "exactly": {"deviceClassName": "a"}},
                        {"name": "a21", "exactly": {"deviceClassName": "a"}},
                        {"name": "a22", "exactly": {"deviceClassName": "a"}},
                        {"name": "a23", "exactly": {"deviceClassName": "a"}},
                        {"name": "a24", "exactly": {"deviceClassName": "a"}},
                        {"name": "a25", "exactly": {"deviceClassName": "a"}},
                        {"name": "a26", "exactly": {"deviceClassName": "a"}},
                        {"name": "a27", "exactly": {"deviceClassName": "a"}},
                        {"name": "a28", "exactly": {"deviceClassName": "a"}},
                        {"name": "a29", "exactly": {"deviceClassName": "a"}},
                        {"name": "a30", "exactly": {"deviceClassName": "a"}},
                        {"name": "a31", "exactly": {"deviceClassName": "a"}},
                        {"name": "a32", "exactly": {"deviceClassName": "a"}},
                    ]
                }
            }
        },
        ["spec.devices.requests: Too many: 33: must have at most 32 items"],
    ),
]
COMPLETED: list[Any] = [
    ({"spec": {}}, {"spec": {"devices": {}}, "status": {}}),
    (
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a"}}]}}},
        {
            "spec": {
                "devices": {
                    "requests": [
                        {
                            "name": "a",
                            "exactly": {"deviceClassName": "a", "allocationMode": "ExactCount", "count": 1},
                        }
                    ]
                }
            },
            "status": {},
        },
    ),
]
UPDATES: list[Any] = [
    (
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c"}}]}}},
        {"spec.devices.requests.0.name": "z"},
        ["spec: Invalid value: null: field is immutable"],
    )
]
STATUSES: list[Any] = [
    (
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c"}}]}}},
        {
            "allocation": {
                "devices": {"results": [{"request": "a", "driver": "a.b", "pool": "p", "device": "d"}]}
            }
        },
        [],
    ),
    (
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c"}}]}}},
        {"reservedFor": [{"resource": "pods", "name": "a", "uid": "u"}]},
        ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"],
    ),
    (
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c"}}]}}},
        {
            "allocation": {
                "devices": {
                    "results": [{"request": "q", "driver": "A_", "pool": "A", "device": "D", "shareID": "x"}],
                    "config": [{}, {"source": "x", "opaque": {"driver": "a", "parameters": {}}}],
                }
            }
        },
        [
            "status.allocation.devices.results[0].request: Invalid value: \"q\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
            "status.allocation.devices.results[0].device: Invalid value: \"D\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            "status.allocation.devices.config[0].opaque: Required value",
            "status.allocation.devices.results[0].driver: Invalid value: \"A_\": an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "status.allocation.devices.results[0].pool: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            'status.allocation.devices.results[0].shareID: Invalid value: "x": uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
            "status.allocation.devices.config[0].source: Required value",
            'status.allocation.devices.config[1].source: Unsupported value: "x": supported values: "FromClaim", "FromClass"',
        ],
    ),
    (
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c"}}]}}},
        {
            "allocation": {
                "devices": {"results": [{"request": "a", "driver": "a.b", "pool": "p", "device": "d"}]}
            },
            "devices": [
                {
                    "driver": "a.b",
                    "pool": "p",
                    "device": "d",
                    "data": 3,
                    "networkData": {
                        "interfaceName": "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
                        "ips": ["10.0.0.1/24", "x"],
                    },
                },
                {"driver": "a.b", "pool": "p", "device": "other"},
            ],
        },
        [
            'status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object',
            'status.devices[0].networkData.ips[1]: Invalid value: "x": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
            'status.devices[1]: Invalid value: {"Driver":"a.b","Pool":"p","Device":"other","ShareID":""}: must be an allocated device in the claim',
            "status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes",
        ],
    ),
]
ROWS: list[Any] = [
    ({}, ["x", "pending", "90s"]),
    ({"status": {"allocation": {}}}, ["x", "allocated", "90s"]),
    (
        {"status": {"allocation": {}, "reservedFor": [{"resource": "pods", "name": "a", "uid": "u"}]}},
        ["x", "allocated,reserved", "90s"],
    ),
    ({"metadata": {"name": "x", "deletionTimestamp": "2026-01-02T03:04:05Z"}}, ["x", "deleted", "90s"]),
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_updates = tables.updated(make, UPDATES)
test_status = tables.reported(make, STATUSES)
test_row = tables.printed(make, ROWS)
