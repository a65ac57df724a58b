import pytest

from pybernetes.api.apps import statefulset
from pybernetes.api.apps.statefulset import RESOURCE
from pybernetes.api.resource import Object
from tests.api.apps.workloads import template, workload
from tests.api.writes import create_errors, created, update_errors

CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
ROLLING = "spec.updateStrategy.rollingUpdate"


def test_defaults() -> None:
    obj = created(RESOURCE, workload(volumeClaimTemplates=[CLAIM]))
    spec = {key: value for key, value in obj["spec"].items() if key not in ("selector", "template")}
    claim = spec.pop("volumeClaimTemplates")[0]
    assert spec == {
        "replicas": 1,
        "serviceName": "",
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 1}},
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    }
    assert (claim["kind"], claim["status"], claim["spec"]["volumeMode"]) == (
        "PersistentVolumeClaim", {"phase": "Pending"}, "Filesystem",
    )  # fmt: skip
    assert obj["status"] == {"replicas": 0, "availableReplicas": 0}


def test_name_is_a_label() -> None:
    obj = workload() | {"metadata": {"name": "a.b"}}
    assert create_errors(RESOURCE, obj) == ['metadata.name: Invalid value: "a.b": must not contain dots']


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"podManagementPolicy": "Any"},
            ["spec.podManagementPolicy: Invalid value: \"Any\": must be 'OrderedReady' or 'Parallel'"],
        ),
        (
            {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Keep"}},
            [
                'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": '
                'supported values: "Retain", "Delete"'
            ],
        ),
        (
            {"ordinals": {"start": -1}},
            ["spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"],
        ),
        ({"serviceName": "a.b"}, ['spec.serviceName: Invalid value: "a.b": must not contain dots']),
        (
            {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 2}}},
            [
                f'{ROLLING}: Invalid value: {{"Partition":2,"MaxUnavailable":null}}: '
                "only allowed for updateStrategy 'RollingUpdate'"
            ],
        ),
        (
            {"updateStrategy": {"type": "Recreate"}},
            [
                'spec.updateStrategy: Invalid value: {"Type":"Recreate","RollingUpdate":null}: '
                "must be 'RollingUpdate' or 'OnDelete'"
            ],
        ),
        (
            {"updateStrategy": {"rollingUpdate": {"partition": -1, "maxUnavailable": "0%"}}},
            [
                f"{ROLLING}.partition: Invalid value: -1: must be greater than or equal to 0",
                f'{ROLLING}.maxUnavailable: Invalid value: "0%": cannot be 0',
            ],
        ),
    ],
)
def test_create(spec: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, workload(**spec)) == expected


def test_claims_are_volumes_of_the_pod() -> None:
    mount = {"name": "data", "mountPath": "/data"}
    pod = template(containers=[{"name": "c", "image": "i", "volumeMounts": [mount]}], hostname="Not_A_Host")
    assert create_errors(RESOURCE, workload(template=pod, volumeClaimTemplates=[CLAIM])) == []


def test_update() -> None:
    assert update_errors(
        RESOURCE, workload(), workload(serviceName="web", podManagementPolicy="Parallel")
    ) == [
        'spec.serviceName: Invalid value: "web": field is immutable',
        'spec.podManagementPolicy: Invalid value: "Parallel": field is immutable',
    ]
    assert update_errors(RESOURCE, workload(), workload(replicas=5, minReadySeconds=3)) == []


def test_warnings() -> None:
    assert len(statefulset.warnings(created(RESOURCE, workload(revisionHistoryLimit=-1)), None)) == 1
    assert statefulset.warnings(created(RESOURCE, workload()), None) == []
