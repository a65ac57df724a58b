"""CSIDriver."""

import pytest

from pybernetes.api.resource import Object
from pybernetes.api.storage import csidriver
from tests.api.writes import create_errors, created, row, update_errors, updated

DRIVER = csidriver.RESOURCE


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
def test_driver_create(spec: Object, expected: list[str]) -> None:
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
