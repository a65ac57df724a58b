"""What to do about a claim or a volume. Pure: the controller does it.

A claim and a volume are bound when each names the other; the annotations say who did that and whether it is complete.
"""

from __future__ import annotations

from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._volumes.claims import class_of, names_class
from pybernetes.control_plane.controllers.persistentvolume_binder import match

COMPLETED = "pv.kubernetes.io/bind-completed"
BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
MIGRATED_TO = "pv.kubernetes.io/migrated-to"
PROVISIONERS = ("volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner")
_IN_TREE = "kubernetes.io/"
# Volume types that once were part of Kubernetes, and the drivers that stand for them now.
MIGRATED = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}
Event = tuple[str, str, str]  # type, reason, message


@dataclass(frozen=True)
class Step:
    """``what`` says what to do, with the volume and the event that belong to it."""

    what: str
    volume: Object | None = None
    event: Event | None = None
    name: str = ""


NOTHING = Step("nothing")


def annotation(obj: Object, name: str) -> str | None:
    """Return the value of an annotation, or None."""
    return (obj["metadata"].get("annotations") or {}).get(name)


# -- claims -------------------------------------------------------------------------------------------------


def bound_claim(claim: Object, volume: Object | None) -> Step:
    """Plan for a claim that was bound before: it stays bound, or has lost its volume for good."""
    if not claim["spec"].get("volumeName"):
        text = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
        return Step("lost", event=("Warning", "ClaimLost", text))
    if volume is None:
        text = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
        return Step("lost", event=("Warning", "ClaimLost", text))
    reference = volume["spec"].get("claimRef")
    if not reference or reference.get("uid") == claim["metadata"]["uid"]:
        return Step("bind", volume)
    text = "Two claims are bound to the same volume, this one is bound incorrectly"
    return Step("lost", event=("Warning", "ClaimMisbound", text))


def named_claim(claim: Object, volume: Object | None) -> Step:
    """Plan for a claim that asks for a volume by name."""
    if volume is None:
        return Step("pending")
    name = volume["metadata"]["name"]
    if not volume["spec"].get("claimRef"):
        if why := match.mismatch(volume, claim):
            text = f'Cannot bind to requested volume "{name}": {why}'
            return Step("pending", event=("Warning", "VolumeMismatch", text))
        return Step("bind", volume)
    if match.is_bound_to(volume, claim):
        return Step("bind", volume)
    text = f'volume "{name}" already bound to a different claim.'
    return Step("pending", event=("Warning", "FailedBinding", text))


def open_claim(
    claim: Object, volume: Object | None, storage_class: Object | None, default: str, waiting_pods: list[str]
) -> Step:
    """Plan for a claim that takes any volume that fits; ``volume`` is the best one, or None."""
    if volume is not None:
        return Step("bind", volume)
    if not names_class(claim) and default:
        return Step("set class", name=default)
    if is_delayed(storage_class) and annotation(claim, SELECTED_NODE) is None:
        reason, text = "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
        if waiting_pods:
            which = f"pods {','.join(waiting_pods)}" if len(waiting_pods) > 1 else f"pod {waiting_pods[0]}"
            reason, text = "WaitForPodScheduled", f"waiting for {which} to be scheduled"
        return Step("pending", event=("Normal", reason, text))
    name = class_of(claim)
    if not name:
        text = "no persistent volumes available for this claim and no storage class is set"
        return Step("pending", event=("Normal", "FailedBinding", text))
    if storage_class is None:
        text = f'storageclass.storage.k8s.io "{name}" not found'
        return Step("pending", event=("Warning", "ProvisioningFailed", text))
    return provision(storage_class)


def provision(storage_class: Object) -> Step:
    """Plan to ask the external provisioner of a class for a volume."""
    provisioner: str = storage_class["provisioner"]
    wanted = MIGRATED.get(provisioner, provisioner)
    if wanted.startswith(_IN_TREE):
        text = f"no volume plugin matched name: {wanted}"
        return Step("pending", event=("Warning", "ProvisioningFailed", text))
    text = (
        f"Waiting for a volume to be created either by the external provisioner '{wanted}' or manually by the "
        "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
        "correctly registered."
    )
    return Step("provision", name=provisioner, event=("Normal", "ExternalProvisioning", text))


def is_delayed(storage_class: Object | None) -> bool:
    """Return whether claims of a class wait for their first pod."""
    return storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"


def provisioner_annotations(claim: Object, provisioner: str) -> dict[str, str]:
    """Return the annotations that tell an external provisioner to begin."""
    wanted = MIGRATED.get(provisioner, provisioner)
    annotations = dict(claim["metadata"].get("annotations") or {})
    annotations.update({name: wanted for name in PROVISIONERS})
    return annotations


# -- volumes ------------------------------------------------------------------------------------------------


def volume_step(volume: Object, claim: Object | None) -> Step:
    """Plan for a volume; ``claim`` is the one it is bound to, or None if that is gone."""
    reference = volume["spec"].get("claimRef")
    if not reference or not reference.get("uid"):
        return Step("available")
    if claim is None:
        return Step("reclaim")
    named = claim["spec"].get("volumeName")
    if not named:
        if match.mode(volume) != match.mode(claim):
            text = f'Cannot bind PersistentVolume to requested PersistentVolumeClaim "{claim["metadata"]["name"]}" due to incompatible volumeMode.'
            return Step("nothing", event=("Warning", "VolumeMismatch", text))
        return Step("sync claim")
    if named == volume["metadata"]["name"]:
        return Step("bound")
    if annotation(volume, PROVISIONED_BY) is not None and policy(volume) == "Delete":
        return Step("reclaim")
    return Step("unbind")


def policy(volume: Object) -> str:
    """Return the reclaim policy of a volume."""
    return volume["spec"].get("persistentVolumeReclaimPolicy") or "Retain"


def reclaim(volume: Object) -> Step:
    """Plan for a volume whose claim is gone; only an external provisioner can delete it."""
    name = volume["metadata"]["name"]
    match policy(volume):
        case "Retain":
            return NOTHING
        case "Recycle":
            return Step(
                "failed", event=("Warning", "VolumeFailedRecycle", "No recycler plugin found for the volume!")
            )
        case "Delete":
            provisioner = annotation(volume, PROVISIONED_BY)
            if provisioner and not provisioner.startswith(_IN_TREE):
                return NOTHING
            if annotation(volume, MIGRATED_TO) or volume["spec"].get("csi") or provisioner in MIGRATED:
                return NOTHING
            text = (
                f'error getting deleter volume plugin for volume "{name}": no deletable volume plugin matched'
            )
            return Step("failed", event=("Warning", "VolumeFailedDelete", text))
    text = "Volume has unrecognized PersistentVolumeReclaimPolicy"
    return Step("failed", event=("Warning", "VolumeUnknownReclaimPolicy", text))


def bound_volume(volume: Object, claim: Object) -> Object | None:
    """Return the volume bound to a claim, or None if it is bound already."""
    spec, meta, own = volume["spec"], volume["metadata"], claim["metadata"]
    changed = False
    annotations = dict(meta.get("annotations") or {})
    if not match.is_bound_to(volume, claim) and BY_CONTROLLER not in annotations:
        annotations[BY_CONTROLLER] = "yes"
        changed = True
    reference = spec.get("claimRef") or {}
    if (reference.get("namespace"), reference.get("name"), reference.get("uid")) != (
        own["namespace"], own["name"], own["uid"],
    ):  # fmt: skip
        reference = {
            "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": own["namespace"],
            "name": own["name"], "uid": own["uid"], "resourceVersion": own["resourceVersion"],
        }  # fmt: skip
        changed = True
    if not changed:
        return None
    return {
        **volume,
        "metadata": {**meta, "annotations": annotations},
        "spec": {**spec, "claimRef": reference},
    }


def unbound_volume(volume: Object) -> Object:
    """Return the volume without its claim; one that a user had reserved for a claim stays reserved."""
    spec, meta = dict(volume["spec"]), dict(volume["metadata"])
    annotations = dict(meta.get("annotations") or {})
    if BY_CONTROLLER in annotations:
        del annotations[BY_CONTROLLER]
        spec.pop("claimRef", None)
        meta["annotations"] = annotations
    else:
        spec["claimRef"] = {name: value for name, value in spec["claimRef"].items() if name != "uid"}
    return {**volume, "metadata": meta, "spec": spec}


def bound_to_volume(claim: Object, volume: Object) -> Object | None:
    """Return the claim bound to a volume, or None if it is bound already."""
    meta = claim["metadata"]
    annotations = dict(meta.get("annotations") or {})
    spec = claim["spec"]
    name = volume["metadata"]["name"]
    if spec.get("volumeName") != name:
        spec = {**spec, "volumeName": name}
        annotations.setdefault(BY_CONTROLLER, "yes")
    annotations.setdefault(COMPLETED, "yes")
    changed = {**claim, "metadata": {**meta, "annotations": annotations}, "spec": spec}
    same = annotations == (meta.get("annotations") or {}) and spec is claim["spec"]
    return None if same else changed


def claim_status(claim: Object, phase: str, volume: Object | None) -> Object | None:
    """Return the status of a claim, or None if nothing changes."""
    old = claim.get("status", {})
    new = {**old, "phase": phase}
    if volume is None:
        for name in ("accessModes", "capacity", "currentVolumeAttributesClassName"):
            new.pop(name, None)
    else:
        spec = volume["spec"]
        new["accessModes"] = spec.get("accessModes") or []
        if old.get("phase") != phase:  # afterwards the size is whoever resizes it to say
            new["capacity"] = spec.get("capacity") or {}
            if before := annotation(volume, "volume.alpha.kubernetes.io/pre-resize-capacity"):
                new["capacity"] = {"storage": before}
        if old.get("phase") == "Pending" and phase == "Bound" and spec.get("volumeAttributesClassName"):
            new["currentVolumeAttributesClassName"] = spec["volumeAttributesClassName"]
    return new if new != old else None
