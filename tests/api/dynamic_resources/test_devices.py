"""The devices of a ResourceSlice: which are refused."""

from __future__ import annotations

from typing import Any

from tests.api import tables
from tests.api.dynamic_resources.slices import make

REFUSED: list[Any] = [
    (
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "nodeName": "n",
                "devices": [
                    {
                        "name": "A",
                        "allNodes": True,
                        "attributes": {
                            "x": {"string": "a"},
                            "a b": {"int": 1},
                            "/y": {"bool": True},
                            "a.b/": {"bool": True},
                            "q": {},
                            "r": {"bool": True, "int": 1},
                            "v": {"version": "1"},
                            "s": {
                                "string": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                            },
                        },
                        "capacity": {"c": {"value": "1", "requestPolicy": {}}, "0": {"value": "2"}},
                        "taints": [
                            {},
                            {"key": "a", "effect": "x"},
                            {"key": "a", "effect": "NoSchedule", "timeAdded": "2020-01-01T00:00:00Z"},
                        ],
                        "consumesCounters": [{}, {"counterSet": "A", "counters": {"B": {"value": "1"}}}],
                        "bindingConditions": ["a", "a"],
                    },
                    {"name": "b", "bindingFailureConditions": ["x"]},
                    {"name": "c", "bindingConditions": ["a"], "bindingFailureConditions": ["a"]},
                ],
            }
        },
        [
            "spec.devices[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            "spec.devices[0].attributes: Invalid value: \"a b\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
            'spec.devices[0].attributes: Invalid value: "": the domain must not be empty',
            'spec.devices[0].attributes: Invalid value: "": the name must not be empty',
            'spec.devices[0].attributes[v].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
            "spec.devices[0].attributes[s].string: Too long: may not be more than 64 bytes",
            "spec.devices[0].capacity[c].requestPolicy: Forbidden: allowMultipleAllocations must be true",
            "spec.devices[0].capacity: Invalid value: \"0\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
            'spec.devices[0].taints[0].key: Invalid value: "": name part must be non-empty',
            "spec.devices[0].taints[0].key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
            'spec.devices[0].bindingConditions[1]: Duplicate value: "a"',
            "spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions",
            "spec.devices[1].bindingConditions: Invalid value: null: bindingConditions are required to use bindingFailureConditions",
            'spec.devices[2].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions',
            'spec.devices[0].attributes[q]: Invalid value: "": must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`',
            'spec.devices[0].attributes[r]: Invalid value: "{int, bool}": must specify exactly one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`',
            "spec.devices[0].consumesCounters[0].counterSet: Required value",
            "spec.devices[0].consumesCounters[0].counters: Required value",
            "spec.devices[0].consumesCounters[1].counterSet: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            "spec.devices[0].consumesCounters[1].counters: Invalid value: \"B\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            "spec.devices[0].taints[0].effect: Required value",
            'spec.devices[0].taints[1].effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "None"',
        ],
    ),
    (
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "nodeName": "n",
                "devices": [
                    {
                        "name": "a",
                        "allowMultipleAllocations": True,
                        "capacity": {
                            "a": {"value": "10", "requestPolicy": {"validValues": ["1"]}},
                            "b": {
                                "value": "10",
                                "requestPolicy": {"default": "3", "validValues": ["2", "1", "20", "1"]},
                            },
                        },
                    }
                ],
            }
        },
        [
            "spec.devices[0].capacity[a].requestPolicy.default: Required value: required when validValues is defined",
            'spec.devices[0].capacity[b].requestPolicy.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
            'spec.devices[0].capacity[b].requestPolicy.validValues[3]: Invalid value: "1": values must be sorted in ascending order',
            'spec.devices[0].capacity[b].requestPolicy.validValues[2]: Invalid value: "20": option is larger than capacity value: 10',
            'spec.devices[0].capacity[b].requestPolicy.validValues[3]: Duplicate value: "1"',
            'spec.devices[0].capacity[b].requestPolicy.validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
        ],
    ),
    (
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "nodeName": "n",
                "devices": [
                    {
                        "name": "a",
                        "allowMultipleAllocations": True,
                        "capacity": {
                            "a": {"value": "10", "requestPolicy": {"default": "3", "validRange": {}}}
                        },
                    },
                    {
                        "name": "b",
                        "allowMultipleAllocations": True,
                        "capacity": {
                            "a": {
                                "value": "10",
                                "requestPolicy": {
                                    "default": "30",
                                    "validRange": {"min": "20", "max": "15", "step": "7"},
                                },
                            }
                        },
                    },
                    {
                        "name": "c",
                        "allowMultipleAllocations": True,
                        "capacity": {
                            "a": {
                                "value": "10",
                                "requestPolicy": {
                                    "default": "2",
                                    "validRange": {"min": "1", "max": "9", "step": "3"},
                                },
                            }
                        },
                    },
                    {
                        "name": "d",
                        "allowMultipleAllocations": True,
                        "capacity": {
                            "a": {
                                "value": "10",
                                "requestPolicy": {
                                    "default": "2",
                                    "validRange": {"min": "1500m", "max": "9", "step": "0"},
                                },
                            }
                        },
                    },
                ],
            }
        },
        [
            "spec.devices[0].capacity[a].requestPolicy.validRange.min: Required value: required when validRange is defined",
            'spec.devices[1].capacity[a].requestPolicy.validRange.min: Invalid value: "20": min is larger than capacity value: 10',
            'spec.devices[1].capacity[a].requestPolicy.validRange.max: Invalid value: "20": min is larger than max: 15',
            'spec.devices[1].capacity[a].requestPolicy.validRange.max: Invalid value: "15": max is larger than capacity value: 10',
            'spec.devices[1].capacity[a].requestPolicy.validRange.default: Invalid value: "30": default is more than max: 15',
            'spec.devices[1].capacity[a].requestPolicy.validRange.step: Invalid value: "7": one step 27 is larger than capacity value: 10',
            'spec.devices[1].capacity[a].requestPolicy.validRange.step: Invalid value: "30": value is not a multiple of a given step (7) from (20)',
            'spec.devices[1].capacity[a].requestPolicy.validRange.step: Invalid value: "15": value is not a multiple of a given step (7) from (20)',
            'spec.devices[2].capacity[a].requestPolicy.validRange.step: Invalid value: "2": value is not a multiple of a given step (3) from (1)',
            'spec.devices[2].capacity[a].requestPolicy.validRange.step: Invalid value: "9": value is not a multiple of a given step (3) from (1)',
            'spec.devices[3].capacity[a].requestPolicy.validRange.step: Invalid value: "0": must be greater than zero',
        ],
    ),
    (
        {
            "spec": {
                "driver": "a.b",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "nodeName": "n",
                "devices": [
                    {"name": "d0"},
                    {"name": "d1"},
                    {"name": "d2"},
                    {"name": "d3"},
                    {"name": "d4"},
                    {"name": "d5"},
                    {"name": "d6"},
                    {"name": "d7"},
                    {"name": "d8"},
                    {"name": "d9"},
                    {"name": "d10"},
                    {"name": "d11"},
                    {"name": "d12"},
                    {"name": "d13"},
                    {"name": "d14"},
                    {"name": "d15"},
                    {"name": "d16"},
                    {"name": "d17"},
                    {"name": "d18"},
                    {"name": "d19"},
                    {"name": "d20"},
                    {"name": "d21"},
                    {"name": "d22"},
                    {"name": "d23"},
                    {"name": "d24"},
                    {"name": "d25"},
                    {"name": "d26"},
                    {"name": "d27"},
                    {"name": "d28"},
                    {"name": "d29"},
                    {"name": "d30"},
                    {"name": "d31"},
                    {"name": "d32"},
                    {"name": "d33"},
                    {"name": "d34"},
                    {"name": "d35"},
                    {"name": "d36"},
                    {"name": "d37"},
                    {"name": "d38"},
                    {"name": "d39"},
                    {"name": "d40"},
                    {"name": "d41"},
                    {"name": "d42"},
                    {"name": "d43"},
                    {"name": "d44"},
                    {"name": "d45"},
                    {"name": "d46"},
                    {"name": "d47"},
                    {"name": "d48"},
                    {"name": "d49"},
                    {"name": "d50"},
                    {"name": "d51"},
                    {"name": "d52"},
                    {"name": "d53"},
                    {"name": "d54"},
                    {"name": "d55"},
                    {"name": "d56"},
                    {"name": "d57"},
                    {"name": "d58"},
                    {"name": "d59"},
                    {"name": "d60"},
                    {"name": "d61"},
                    {"name": "d62"},
                    {"name": "d63"},
                    {"name": "d64"},
                    {"name": "d65"},
                    {"name": "d66"},
                    {"name": "d67"},
                    {"name": "d68"},
                    {"name": "d69"},
                    {"name": "d70"},
                    {"name": "d71"},
                    {"name": "d72"},
                    {"name": "d73"},
                    {"name": "d74"},
                    {"name": "d75"},
                    {"name": "d76"},
                    {"name": "d77"},
                    {"name": "d78"},
                    {"name": "d79"},
                    {"name": "d80"},
                    {"name": "d81"},
                    {"name": "d82"},
                    {"name": "d83"},
                    {"name": "d84"},
                    {"name": "d85"},
                    {"name": "d86"},
                    {"name": "d87"},
                    {"name": "d88"},
                    {"name": "d89"},
                    {"name": "d90"},
                    {"name": "d91"},
                    {"name": "d92"},
                    {"name": "d93"},
                    {"name": "d94"},
                    {"name": "d95"},
                    {"name": "d96"},
                    {"name": "d97"},
                    {"name": "d98"},
                    {"name": "d99"},
                    {"name": "d100"},
                    {"name": "d101"},
                    {"name": "d102"},
                    {"name": "d103"},
                    {"name": "d104"},
                    {"name": "d105"},
                    {"name": "d106"},
                    {"name": "d107"},
                    {"name": "d108"},
                    {"name": "d109"},
                    {"name": "d110"},
                    {"name": "d111"},
                    {"name": "d112"},
                    {"name": "d113"},
                    {"name": "d114"},
                    {"name": "d115"},
                    {"name": "d116"},
                    {"name": "d117"},
                    {"name": "d118"},
                    {"name": "d119"},
                    {"name": "d120"},
                    {"name": "d121"},
                    {"name": "d122"},
                    {"name": "d123"},
                    {"name": "d124"},
                    {"name": "d125"},
                    {"name": "d126"},
                    {"name": "d127"},
                    {"name": "d128"},
                ],
            }
        },
        ["spec.devices: Too many: 129: must have at most 128 items"],
    ),
]

test_refused = tables.refused(make, REFUSED)
