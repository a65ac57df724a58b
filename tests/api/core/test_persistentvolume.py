"""PersistentVolume."""

import pytest

from pybernetes.api import current_time
from pybernetes.api.core import persistentvolume
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name, update, update_status

VOLUME = persistentvolume.RESOURCE
VOLUME_SPEC = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}
AFFINITY = {
    "required": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "In", "values": ["linux"]}]}
        ]
    }
}


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
def test_checks_of_volumes(spec: Object, expected: list[str]) -> None:
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
    assert row_by_name(VOLUME, volume) == {
        "Name": "x", "Capacity": "1Gi", "Access Modes": "RWO", "Reclaim Policy": "Retain", "Status": "Pending",
        "Claim": "a/b", "StorageClass": "", "VolumeAttributesClass": "<unset>", "Reason": "", "VolumeMode": "Filesystem",
    }  # fmt: skip
    volume["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert row_by_name(VOLUME, volume)["Status"] == "Terminating"
