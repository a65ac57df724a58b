"""Which volume fits a claim, and what to do about either."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.persistentvolume_binder import match, plan
from pybernetes.control_plane.controllers.persistentvolume_binder.plan import (
    BY_CONTROLLER,
    COMPLETED,
    PROVISIONED_BY,
    SELECTED_NODE,
)


def claim(size: str = "1Gi", *modes: str, annotations: Object | None = None, **spec: Any) -> Object:
    return {
        "metadata": {
            "name": "claim", "namespace": "default", "uid": "claim-uid", "resourceVersion": "1",
            "annotations": annotations or {},
        },
        "spec": {
            "accessModes": list(modes) or ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            **spec,
        },
        "status": {"phase": "Pending"},
    }  # fmt: skip


def volume(
    name: str,
    size: str = "1Gi",
    *modes: str,
    phase: str = "Available",
    annotations: Object | None = None,
    **spec: Any,
) -> Object:
    return {
        "metadata": {"name": name, "labels": {"disk": name}, "annotations": annotations or {}},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": list(modes) or ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            **spec,
        },
        "status": {"phase": phase},
    }


def reference(uid: str | None = "claim-uid", name: str = "claim") -> Object:
    return {"namespace": "default", "name": name, **({"uid": uid} if uid is not None else {})}


GOING = volume("going")
GOING["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("wanted", "volumes", "best"),
    [
        (claim(), [], None),
        (claim("2Gi"), [volume("a", "1Gi"), volume("b", "5Gi"), volume("c", "3Gi")], "c"),
        (claim(), [volume("a"), volume("b")], "a"),
        (claim(), [volume("many", "1Gi", "ReadWriteOnce", "ReadOnlyMany"), volume("one", "9Gi")], "one"),
        (claim("1Gi", "ReadOnlyMany"), [volume("a"), volume("b", "1Gi", "ReadWriteOnce", "ReadOnlyMany")], "b"),
        (claim(), [volume("a", claimRef=reference("other", "other"))], None),
        (claim(), [volume("a"), volume("kept", "9Gi", claimRef=reference(None))], "kept"),
        (claim(), [volume("kept", "9Gi", claimRef=reference("former-uid"))], None),
        (claim(), [volume("a", phase="Released")], None),
        (claim(), [volume("a", storageClassName="fast")], None),
        (claim(storageClassName="fast"), [volume("a"), volume("b", storageClassName="fast")], "b"),
        (claim(volumeMode="Block"), [volume("a"), volume("b", volumeMode="Block")], "b"),
        (claim(selector={"matchLabels": {"disk": "b"}}), [volume("a"), volume("b", "9Gi")], "b"),
        (claim(), [GOING], None),
        (claim(volumeAttributesClassName="gold"), [volume("a"), volume("b", volumeAttributesClassName="gold")], "b"),
    ],
)  # fmt: skip
def test_find(wanted: Object, volumes: list[Object], best: str | None) -> None:
    chosen = match.find(wanted, volumes, delayed=False)
    assert (chosen["metadata"]["name"] if chosen is not None else None) == best


def test_delayed_claims_take_only_what_is_kept_for_them() -> None:
    volumes = [volume("a"), volume("kept", claimRef=reference(None))]
    best = match.find(claim(), volumes, delayed=True)
    assert best is not None
    assert best["metadata"]["name"] == "kept"
    assert match.find(claim(), volumes[:1], delayed=True) is None


@pytest.mark.parametrize(
    ("wanted", "named", "why"),
    [
        (claim(), volume("a"), ""),
        (claim("2Gi"), volume("a"), "requested PV is too small"),
        (claim(), volume("a", storageClassName="fast"), "storageClassName does not match"),
        (claim(), volume("a", volumeAttributesClassName="gold"), "volumeAttributesClassName does not match"),
        (claim(volumeMode="Block"), volume("a"), "incompatible volumeMode"),
        (claim("1Gi", "ReadWriteMany"), volume("a"), "incompatible accessMode"),
        (claim(), GOING, 'the volume is marked for deletion "going"'),
    ],
)
def test_mismatch(wanted: Object, named: Object, why: str) -> None:
    assert match.mismatch(named, wanted) == why


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
