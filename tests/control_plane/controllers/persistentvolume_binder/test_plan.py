"""What to do about a claim, and about a volume."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.persistentvolume_binder import plan
from pybernetes.control_plane.controllers.persistentvolume_binder.plan import (
    BY_CONTROLLER,
    COMPLETED,
    PROVISIONED_BY,
    SELECTED_NODE,
)
from tests.control_plane.controllers.persistentvolume_binder.volumes import claim, reference, volume

IMMEDIATE = {
    "metadata": {"name": "fast"},
    "provisioner": "example.com/disk",
    "volumeBindingMode": "Immediate",
}
DELAYED = {**IMMEDIATE, "volumeBindingMode": "WaitForFirstConsumer"}


@pytest.mark.parametrize(
    ("wanted", "storage_class", "default", "pods", "what", "reason"),
    [
        (claim(), None, "", [], "pending", "FailedBinding"),
        (claim(), None, "fast", [], "set class", None),
        (claim(storageClassName=""), None, "fast", [], "pending", "FailedBinding"),
        (claim(storageClassName="fast"), IMMEDIATE, "", [], "provision", "ExternalProvisioning"),
        (claim(storageClassName="fast"), None, "", [], "pending", "ProvisioningFailed"),
        (claim(storageClassName="fast"), {**IMMEDIATE, "provisioner": "kubernetes.io/no-provisioner"}, "", [],
         "pending", "ProvisioningFailed"),
        (claim(storageClassName="fast"), {**IMMEDIATE, "provisioner": "kubernetes.io/aws-ebs"}, "", [],
         "provision", "ExternalProvisioning"),
        (claim(storageClassName="fast"), DELAYED, "", [], "pending", "WaitForFirstConsumer"),
        (claim(storageClassName="fast"), DELAYED, "", ["a"], "pending", "WaitForPodScheduled"),
        (claim(storageClassName="fast", annotations={SELECTED_NODE: "node"}), DELAYED, "", ["a"],
         "provision", "ExternalProvisioning"),
    ],
)  # fmt: skip
def test_claims_without_a_volume(
    wanted: Object, storage_class: Object | None, default: str, pods: list[str], what: str, reason: str | None
) -> None:
    step = plan.open_claim(wanted, None, storage_class, default, pods)
    assert step.what == what
    assert (step.event[1] if step.event is not None else None) == reason


def test_pods_that_are_waited_for() -> None:
    one = plan.open_claim(claim(storageClassName="fast"), None, DELAYED, "", ["a"])
    two = plan.open_claim(claim(storageClassName="fast"), None, DELAYED, "", ["a", "b"])
    assert one.event is not None
    assert two.event is not None
    assert one.event[2] == "waiting for pod a to be scheduled"
    assert two.event[2] == "waiting for pods a,b to be scheduled"


@pytest.mark.parametrize(
    ("wanted", "given_volume", "what", "reason"),
    [
        (claim(), None, "lost", "ClaimLost"),
        (claim(volumeName="a"), None, "lost", "ClaimLost"),
        (claim(volumeName="a"), volume("a"), "bind", None),
        (claim(volumeName="a"), volume("a", claimRef=reference()), "bind", None),
        (claim(volumeName="a"), volume("a", claimRef=reference("other")), "lost", "ClaimMisbound"),
    ],
)
def test_claims_that_were_bound(
    wanted: Object, given_volume: Object | None, what: str, reason: str | None
) -> None:
    step = plan.bound_claim(wanted, given_volume)
    assert (step.what, step.event[1] if step.event is not None else None) == (what, reason)


@pytest.mark.parametrize(
    ("given_volume", "what", "reason"),
    [
        (None, "pending", None),
        (volume("a"), "bind", None),
        (volume("a", "1Mi"), "pending", "VolumeMismatch"),
        (volume("a", claimRef=reference(None)), "bind", None),
        (volume("a", claimRef=reference("x", "other")), "pending", "FailedBinding"),
    ],
)
def test_claims_that_name_a_volume(given_volume: Object | None, what: str, reason: str | None) -> None:
    step = plan.named_claim(claim(volumeName="a"), given_volume)
    assert (step.what, step.event[1] if step.event is not None else None) == (what, reason)


@pytest.mark.parametrize(
    ("given_volume", "bound", "what"),
    [
        (volume("a"), None, "available"),
        (volume("a", claimRef=reference(None)), claim(), "available"),
        (volume("a", claimRef=reference()), None, "reclaim"),
        (volume("a", claimRef=reference()), claim(), "sync claim"),
        (volume("a", claimRef=reference(), volumeMode="Block"), claim(), "nothing"),
        (volume("a", claimRef=reference()), claim(volumeName="a"), "bound"),
        (volume("a", claimRef=reference()), claim(volumeName="b"), "unbind"),
        (volume("a", claimRef=reference(), persistentVolumeReclaimPolicy="Delete", annotations={PROVISIONED_BY: "x"}),
         claim(volumeName="b"), "reclaim"),
    ],
)  # fmt: skip
def test_volumes(given_volume: Object, bound: Object | None, what: str) -> None:
    assert plan.volume_step(given_volume, bound).what == what


@pytest.mark.parametrize(
    ("given_volume", "what", "reason"),
    [
        (volume("a"), "nothing", None),
        (volume("a", persistentVolumeReclaimPolicy="Recycle"), "failed", "VolumeFailedRecycle"),
        (volume("a", persistentVolumeReclaimPolicy="Delete"), "failed", "VolumeFailedDelete"),
        (volume("a", persistentVolumeReclaimPolicy="Delete", csi={}), "failed", "VolumeFailedDelete"),
        (volume("a", persistentVolumeReclaimPolicy="Delete", csi={"driver": "x"}), "nothing", None),
        (volume("a", persistentVolumeReclaimPolicy="Delete", annotations={PROVISIONED_BY: "example.com/disk"}),
         "nothing", None),
        (volume("a", persistentVolumeReclaimPolicy="Odd"), "failed", "VolumeUnknownReclaimPolicy"),
    ],
)  # fmt: skip
def test_reclaim(given_volume: Object, what: str, reason: str | None) -> None:
    step = plan.reclaim(given_volume)
    assert (step.what, step.event[1] if step.event is not None else None) == (what, reason)


def test_binding_both_ways() -> None:
    bound = plan.bound_volume(volume("a"), claim())
    assert bound is not None
    assert bound["spec"]["claimRef"]["uid"] == "claim-uid"
    assert bound["metadata"]["annotations"] == {BY_CONTROLLER: "yes"}
    assert plan.bound_volume(bound, claim()) is None
    back = plan.unbound_volume(bound)
    assert "claimRef" not in back["spec"]
    # What people had kept for the claim stays kept.
    kept = plan.bound_volume(volume("a", claimRef=reference(None)), claim())
    assert kept is not None
    assert BY_CONTROLLER not in kept["metadata"]["annotations"]
    assert plan.unbound_volume(kept)["spec"]["claimRef"]["name"] == "claim"
    assert "uid" not in plan.unbound_volume(kept)["spec"]["claimRef"]
    other = plan.bound_to_volume(claim(), volume("a"))
    assert other is not None
    assert other["spec"]["volumeName"] == "a"
    assert set(other["metadata"]["annotations"]) == {BY_CONTROLLER, COMPLETED}
    assert plan.bound_to_volume(other, volume("a")) is None
    asked = plan.bound_to_volume(claim(volumeName="a"), volume("a"))
    assert asked is not None
    assert set(asked["metadata"]["annotations"]) == {COMPLETED}


def test_status_of_a_claim() -> None:
    status = plan.claim_status(claim(), "Bound", volume("a", "5Gi"))
    assert status == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "5Gi"}}
    bound = {**claim(), "status": status}
    assert plan.claim_status(bound, "Bound", volume("a", "9Gi")) is None
    assert plan.claim_status(bound, "Lost", None) == {"phase": "Lost"}
    assert plan.claim_status(claim(), "Pending", None) is None
