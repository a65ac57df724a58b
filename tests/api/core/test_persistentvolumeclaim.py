"""PersistentVolumeClaim."""

from typing import Any

import pytest

from pybernetes.api.core import persistentvolumeclaim
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name, update, update_status

CLAIM = persistentvolumeclaim.RESOURCE
CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def test_defaults_of_claims() -> None:
    claim = create(CLAIM, {"spec": CLAIM_SPEC, "status": {"phase": "Bound"}})[0]
    assert claim["spec"] == {**CLAIM_SPEC, "volumeMode": "Filesystem"}
    assert claim["status"] == {"phase": "Pending"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"dataSource": {"kind": "Other", "name": "a"}}, (None, None)),
        ({"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}},
         ({"kind": "PersistentVolumeClaim", "name": "a"},) * 2),
        ({"dataSourceRef": {"apiGroup": "a.b", "kind": "X", "name": "a"}}, ({"apiGroup": "a.b", "kind": "X", "name": "a"},) * 2),
        ({"dataSourceRef": {"apiGroup": "a.b", "kind": "X", "name": "a", "namespace": "n"}}, (None, None)),
    ],
)  # fmt: skip
def test_data_sources(given: Object, expected: tuple[Any, Any]) -> None:
    spec = create(CLAIM, {"spec": {**CLAIM_SPEC, **given}})[0]["spec"]
    assert (spec.get("dataSource"), spec.get("dataSourceRef")) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"accessModes": []}, ["spec.accessModes: Required value: at least 1 access mode is required"]),
        ({"accessModes": ["X"]},
         ['spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"']),
        ({"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]},
         ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"]),
        ({"resources": {}}, ["spec.resources[storage]: Required value"]),
        ({"resources": {"requests": {"storage": "0"}}}, ['spec.resources[storage]: Invalid value: "0": must be greater than zero']),
        ({"volumeMode": "X"}, ['spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"']),
        ({"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}, "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "b"}},
         ["spec: Invalid value: {}: must match dataSourceRef"]),
        ({"dataSourceRef": {"kind": "X", "name": "b"}},
         ['spec.dataSource: Invalid value: "X": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
          'spec.dataSourceRef: Invalid value: "X": must be \'PersistentVolumeClaim\' when referencing the default apiGroup']),
    ],
)  # fmt: skip
def test_checks_of_claims(spec: Object, expected: list[str]) -> None:
    assert create(CLAIM, {"spec": {**CLAIM_SPEC, **spec}})[1] == expected


FIXED = "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"


@pytest.mark.parametrize(
    ("phase", "changes", "expected"),
    [
        ("Pending", {"spec.volumeName": "v"}, []),
        ("Pending", {"spec.storageClassName": "c"}, []),
        ("Pending", {"spec.resources": {"requests": {"storage": "1024Mi"}}}, []),
        ("Bound", {"spec.resources": {"requests": {"storage": "2Gi"}}}, []),
        ("Bound", {"spec.resources": {"requests": {"storage": "1Mi"}}},
         ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"]),
        ("Bound", {"spec.volumeAttributesClassName": "c"}, []),
        ("Pending", {"spec.resources": {"requests": {"storage": "2Gi"}}},
         [FIXED + '@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n'
          '+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n']),
    ],
)  # fmt: skip
def test_updates_of_claims(phase: str, changes: Object, expected: list[str]) -> None:
    old = create(CLAIM, {"spec": CLAIM_SPEC})[0]
    old["status"] = {"phase": phase, "capacity": {"storage": "512Mi"}}
    assert update(CLAIM, old, changes)[1] == expected


def test_status_of_claims() -> None:
    old = create(CLAIM, {"spec": CLAIM_SPEC})[0]
    status = {"allocatedResources": {"cpu": "1"}, "capacity": {"storage": "-1"}, "healthStatus": {}}
    new, errors = update_status(CLAIM, old, status)
    assert errors == [
        "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
        'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
    ]
    assert "healthStatus" not in new["status"]


def test_columns_of_claims() -> None:
    claim = create(CLAIM, {"spec": {**CLAIM_SPEC, "storageClassName": "c"}})[0]
    assert row_by_name(CLAIM, claim) == {
        "Name": "x", "Status": "Pending", "Volume": "", "Capacity": "", "Access Modes": "", "StorageClass": "c",
        "VolumeAttributesClass": "<unset>", "VolumeMode": "Filesystem",
    }  # fmt: skip
    claim["spec"]["volumeName"] = "v"
    claim["status"] = {
        "phase": "Bound",
        "capacity": {"storage": "2Gi"},
        "accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
    }
    shown = row_by_name(CLAIM, claim)
    assert (shown["Volume"], shown["Capacity"], shown["Access Modes"]) == ("v", "2Gi", "RWO,ROX")
