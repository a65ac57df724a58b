"""CSIDriver, CSINode and CSIStorageCapacity."""

from typing import Any

import pytest

from pybernetes.api.storage import csidriver, csinode, csistoragecapacity
from tests.api.writes import create_errors, created, row, update_errors, updated

DRIVER, NODE, CAPACITY = csidriver.RESOURCE, csinode.RESOURCE, csistoragecapacity.RESOURCE


def test_driver_defaults() -> None:
    assert created(DRIVER, {})["spec"] == {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "requiresRepublish": False,
        "seLinuxMount": False,
        "preventPodSchedulingIfMissing": False,
        "volumeLifecycleModes": ["Persistent"],
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"fsGroupPolicy": "", "volumeLifecycleModes": ["Once"]},
            [
                'spec.fsGroupPolicy: Unsupported value: "": supported values: "File", "None", "ReadWriteOnceWithFSType"',
                'spec.volumeLifecycleModes: Unsupported value: "Once": supported values: "Persistent", "Ephemeral"',
            ],
        ),
        (
            {"tokenRequests": [{"audience": "a", "expirationSeconds": 1}, {"audience": "a"}]},
            [
                "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: "
                "may not specify a duration less than 10 minutes",
                'spec.tokenRequests[1].audience: Duplicate value: "a"',
            ],
        ),
        (
            {"serviceAccountTokenInSecrets": False, "nodeAllocatableUpdatePeriodSeconds": 9},
            [
                "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: "
                "must be greater than or equal to 10 seconds",
                "spec.serviceAccountTokenInSecrets: Invalid value: false: "
                "serviceAccountTokenInSecrets is set but no tokenRequests are specified",
            ],
        ),
    ],
)
def test_driver_create(spec: dict[str, Any], expected: list[str]) -> None:
    assert create_errors(DRIVER, {"spec": spec}) == expected


def test_driver_update() -> None:
    changed = {"spec": {"attachRequired": False, "volumeLifecycleModes": ["Ephemeral"]}}
    assert update_errors(DRIVER, {}, changed) == [
        "spec.attachedRequired: Invalid value: false: field is immutable",
        'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
    ]
    assert updated(DRIVER, {}, {"spec": {"podInfoOnMount": True}})[0]["metadata"]["generation"] == 1


def test_driver_warnings_and_columns() -> None:
    obj = created(DRIVER, {"spec": {"tokenRequests": [{"audience": "a"}, {"audience": "b"}]}})
    assert len(csidriver.warnings(obj, None)) == 1
    assert csidriver.warnings(obj, obj) == []
    assert row(DRIVER, obj) == ["name", True, False, False, "a,b", False, "Persistent"]
    assert row(DRIVER, {})[4:] == ["<unset>", False, "<none>"]


def test_node() -> None:
    drivers = [
        {"name": "a", "nodeID": "x" * 257, "topologyKeys": ["k", "k"]},
        {"name": "a", "nodeID": "i"},
        {},
    ]
    assert create_errors(NODE, {"spec": {"drivers": drivers}}) == [
        f'spec.drivers[0].nodeID: Invalid value: "{"x" * 257}": must be 256 characters or less',
        'spec.drivers[0]: Duplicate value: "k"',
        'spec.drivers[1].name: Duplicate value: "a"',
        "spec.drivers[2].name: Required value",
        "spec.drivers[2].nodeID: Required value",
    ]
    node = {"spec": {"drivers": [{"name": "a", "nodeID": "i"}]}}
    more = {
        "spec": {
            "drivers": [
                {"name": "a", "nodeID": "i", "allocatable": {"count": 3}},
                {"name": "b", "nodeID": "i"},
            ]
        }
    }
    assert update_errors(NODE, node, more) == []
    assert len(update_errors(NODE, node, {"spec": {"drivers": [{"name": "a", "nodeID": "j"}]}})) == 1
    assert row(NODE, node) == ["name", 1]


def test_capacity() -> None:
    assert create_errors(CAPACITY, {"storageClassName": "a", "capacity": "-1"}) == [
        'capacity: Invalid value: "-1": must be greater than or equal to 0'
    ]
    changed = {"storageClassName": "b", "nodeTopology": {"matchLabels": {"a": "b"}}}
    assert update_errors(CAPACITY, {"storageClassName": "a"}, changed) == [
        'nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable',
        'storageClassName: Invalid value: "b": field is immutable',
    ]
