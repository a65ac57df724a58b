"""ResourceSlice: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from typing import Any

from tests.api import tables
from tests.api.dynamic_resources.slices import make

REFUSED: list[Any] = [
    (
        {"spec": {}},
        [
            "spec.driver: Required value",
            "spec.pool.name: Required value",
            "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
            "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
        ],
    ),
    (
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "nodeName": "n",
                "allNodes": True,
                "nodeSelector": {"nodeSelectorTerms": []},
            }
        },
        [
            "spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
            "spec.nodeSelector.nodeSelectorTerms: Invalid value: []: must have exactly one node selector term",
            'spec: Invalid value: "{`nodeName`, `nodeSelector`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
        ],
    ),
    (
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "nodeName": "",
                "allNodes": False,
            }
        },
        [
            'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
            "spec.allNodes: Invalid value: false: must be either unset or set to true",
            "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
        ],
    ),
    (
        {
            "spec": {
                "driver": "A.B",
                "pool": {"name": "p/q", "resourceSliceCount": 1, "generation": -1},
                "perDeviceNodeSelection": True,
                "devices": [
                    {"name": "a"},
                    {"name": "b", "nodeName": "n", "allNodes": True},
                    {"name": "c", "nodeName": ""},
                    {"name": "a", "allNodes": False},
                ],
            }
        },
        [
            "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
            "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
            'spec.devices[1]: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
            'spec.devices[2].nodeName: Invalid value: "": must not be empty',
            "spec.devices[2]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
            "spec.devices[3].allNodes: Invalid value: false: must be either unset or set to true",
            "spec.devices[3]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
            'spec.devices[3]: Duplicate value: "a"',
        ],
    ),
    (
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "nodeName": "n",
                "sharedCounters": [
                    {},
                    {"name": "a", "counters": {"b": {"value": "1"}}},
                    {"name": "a", "counters": {"b": {"value": "1"}}},
                ],
            }
        },
        [
            'spec.sharedCounters[2]: Duplicate value: {"name":"a","counters":{"b":{"value":"1"}}}',
            "spec.sharedCounters[0].name: Required value",
            "spec.sharedCounters[0].counters: Required value",
        ],
    ),
    (
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "nodeName": "n",
                "sharedCounters": [{"name": "a", "counters": {"b": {"value": "1"}}}],
                "devices": [{"name": "a"}],
            }
        },
        ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
    ),
]
COMPLETED: list[Any] = [
    (
        {"spec": {"driver": "a.b", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n"}},
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1, "generation": 0},
                "nodeName": "n",
            }
        },
    )
]
UPDATES: list[Any] = [
    (
        {"spec": {"driver": "a.b", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n"}},
        {"spec.driver": "c.d"},
        ['spec.driver: Invalid value: "c.d": field is immutable'],
    ),
    (
        {"spec": {"driver": "a.b", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n"}},
        {"spec.pool.name": "q", "spec.nodeName": "m"},
        [
            'spec.pool.name: Invalid value: "q": field is immutable',
            'spec.nodeName: Invalid value: "m": field is immutable',
        ],
    ),
]
ROWS: list[Any] = [
    (
        {"spec": {"driver": "a.b", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n"}},
        ["x", "n", "a.b", "p", "90s"],
    )
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_updates = tables.updated(make, UPDATES)
test_row = tables.printed(make, ROWS)
