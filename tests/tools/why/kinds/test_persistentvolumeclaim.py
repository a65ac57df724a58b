"""Why a claim waits."""

from typing import Any

import pytest

from pybernetes.client.refs import (
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from pybernetes.tools.why.kinds import (
    persistentvolumeclaim,
)
from tests.tools.why.worlds import obj, world

LATE = {
    "metadata": {"name": "late"},
    "provisioner": "example.com/disk",
    "volumeBindingMode": "WaitForFirstConsumer",
}
NONE = {"metadata": {"name": "static"}, "provisioner": "kubernetes.io/no-provisioner"}
USER = obj("web", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})


@pytest.mark.parametrize(
    ("spec", "status", "pods", "events", "expected"),
    [
        ({"storageClassName": "late"}, {"phase": "Bound"}, [], {}, []),
        ({"storageClassName": "late", "volumeName": "v1"}, {"phase": "Lost"}, [], {}, ["Its volume v1 is gone"]),
        ({}, {}, [], {}, ["names no storage class"]),
        ({"storageClassName": "fast"}, {}, [], {}, ["storage class fast does not exist"]),
        ({"storageClassName": "late", "volumeName": "v1"}, {}, [], {}, ["volume v1, which does not exist"]),
        ({"storageClassName": "late"}, {}, [], {}, ["It waits for a pod that uses it"]),
        ({"storageClassName": "late"}, {}, [USER], {"ProvisioningFailed": "no space"}, ["waits for example.com/disk"]),
        ({"storageClassName": "static"}, {}, [USER], {}, ["makes no volumes"]),
    ],
)  # fmt: skip
def test_claims(spec: Any, status: Any, pods: Any, events: Any, expected: list[str]) -> None:
    around = world((STORAGE_CLASSES, [LATE, NONE]), (PERSISTENT_VOLUMES, []), (PODS, pods), events=events)
    _, findings = persistentvolumeclaim.WHY.decide(obj("data", spec=spec, status=status), around)
    assert len(findings) == len(expected)
    for finding, words in zip(findings, expected, strict=True):
        assert words in finding.title


def test_a_claim_that_is_deleted_and_used() -> None:
    claim = obj("data", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["kubernetes.io/pvc-protection"])
    assert (
        "as long as pods use it" in persistentvolumeclaim.WHY.decide(claim, world((PODS, [USER])))[1][0].title
    )
    assert (
        "The finalizer kubernetes.io"
        in persistentvolumeclaim.WHY.decide(claim, world((PODS, [])))[1][0].title
    )
