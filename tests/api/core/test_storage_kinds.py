"""PersistentVolume and PersistentVolumeClaim."""

from typing import Any

import pytest

from pybernetes.api import current_time
from pybernetes.api.core import persistentvolume, persistentvolumeclaim
from tests.kinds import create, row, update, update_status

VOLUME, CLAIM = persistentvolume.RESOURCE, persistentvolumeclaim.RESOURCE
CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
VOLUME_SPEC = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}
AFFINITY = {
    "required": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "In", "values": ["linux"]}]}
        ]
    }
}


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
def test_data_sources(given: dict[str, Any], expected: tuple[Any, Any]) -> None:
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
def test_checks_of_claims(spec: dict[str, Any], expected: list[str]) -> None:
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
def test_updates_of_claims(phase: str, changes: dict[str, Any], expected: list[str]) -> None:
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
    assert row(CLAIM, claim) == {
        "Name": "x", "Status": "Pending", "Volume": "", "Capacity": "", "Access Modes": "", "StorageClass": "c",
        "VolumeAttributesClass": "<unset>", "VolumeMode": "Filesystem",
    }  # fmt: skip
    claim["spec"]["volumeName"] = "v"
    claim["status"] = {
        "phase": "Bound",
        "capacity": {"storage": "2Gi"},
        "accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
    }
    shown = row(CLAIM, claim)
    assert (shown["Volume"], shown["Capacity"], shown["Access Modes"]) == ("v", "2Gi", "RWO,ROX")


def test_defaults_of_volumes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_time, "clock", lambda: 0.0)
    volume = create(VOLUME, {"spec": VOLUME_SPEC})[0]
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert volume["spec"]["volumeMode"] == "Filesystem" and volume["spec"]["hostPath"] == {
        "path": "/a",
        "type": "",
    }
    assert volume["status"] == {"phase": "Pending", "lastPhaseTransitionTime": "1970-01-01T00:00:00Z"}
    monkeypatch.setattr(current_time, "clock", lambda: 60.0)
    assert update_status(VOLUME, volume, {"phase": "Pending"})[0]["status"] == volume["status"]
    later = update_status(VOLUME, volume, {"phase": "Available"})[0]["status"]
    assert later["lastPhaseTransitionTime"] == "1970-01-01T00:01:00Z"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"accessModes": []}, ["spec.accessModes: Required value"]),
        ({"capacity": {"storage": "0"}}, ['spec.capacity[storage]: Invalid value: "0": must be greater than zero']),
        ({"capacity": {"cpu": "1"}}, ['spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"']),
        ({"hostPath": None}, ["spec: Required value: must specify a volume type"]),
        ({"nfs": {"server": "a", "path": "/b"}}, ["spec.nfs: Forbidden: may not specify more than 1 volume type"]),
        ({"hostPath": {"path": "/a/.."}}, ['spec.hostPath.path: Invalid value: "/a/..": must not contain \'..\'']),
        ({"hostPath": {"path": "/"}, "persistentVolumeReclaimPolicy": "Recycle"},
         ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"]),
        ({"hostPath": None, "local": {"path": "/a"}}, ["spec.nodeAffinity: Required value: Local volume requires node affinity"]),
        ({"hostPath": None, "local": {"path": "/a"}, "nodeAffinity": AFFINITY}, []),
        ({"nodeAffinity": {}}, ["spec.nodeAffinity.required: Required value: must specify required node constraints"]),
        ({"volumeAttributesClassName": "a"}, ["spec.csi: Required value: has to be specified when using volumeAttributesClassName"]),
        ({"hostPath": None, "csi": {"driver": "d", "volumeHandle": "h", "nodePublishSecretRef": {"name": "s"}}},
         ["spec.csi.nodePublishSecretRef.namespace: Required value"]),
        ({"hostPath": None, "iscsi": {"targetPortal": "a", "iqn": "x", "lun": 256}},
         ['spec.iscsi.iqn: Invalid value: "x": must be valid format',
          "spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive"]),
    ],
)  # fmt: skip
def test_checks_of_volumes(spec: dict[str, Any], expected: list[str]) -> None:
    full = {key: value for key, value in {**VOLUME_SPEC, **spec}.items() if value is not None}
    assert create(VOLUME, {"spec": full})[1] == expected


def test_updates_of_volumes() -> None:
    old = create(VOLUME, {"spec": {**VOLUME_SPEC, "nodeAffinity": AFFINITY}})[0]
    stable = {
        "required": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}
            ]
        }
    }
    assert update(VOLUME, old, {"spec.nodeAffinity": stable})[1] == []
    assert update(VOLUME, old, {"spec.capacity": {"storage": "2Gi"}})[1] == []
    assert update(VOLUME, old, {"spec.nodeAffinity": None})[1] == [
        "nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA"
    ]
    [error] = update(VOLUME, old, {"spec.hostPath": {"path": "/b"}})[1]
    assert error.startswith(
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@"
    )
    assert '-  "Path": "/a",\n+  "Path": "/b",\n' in error


def test_columns_of_volumes() -> None:
    volume = create(VOLUME, {"spec": {**VOLUME_SPEC, "claimRef": {"namespace": "a", "name": "b"}}})[0]
    assert row(VOLUME, volume) == {
        "Name": "x", "Capacity": "1Gi", "Access Modes": "RWO", "Reclaim Policy": "Retain", "Status": "Pending",
        "Claim": "a/b", "StorageClass": "", "VolumeAttributesClass": "<unset>", "Reason": "", "VolumeMode": "Filesystem",
    }  # fmt: skip
    volume["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert row(VOLUME, volume)["Status"] == "Terminating"
