"""Which claims get a folder, what their volumes look like, and which folders may be removed. Pure."""

from __future__ import annotations

from pathlib import Path

from pybernetes.api.resource import Object

NAME = "pybernetes.dev/local-folder"
CLASS = "standard"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
PROVISIONER_ANNOTATIONS = (
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
)
FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"
_HOSTNAME = "kubernetes.io/hostname"


def storage_class() -> Object:
    """Return the class that claims without a class get."""
    return {
        "metadata": {"name": CLASS, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": NAME,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def _annotation(obj: Object, *names: str) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    return next((annotations[name] for name in names if name in annotations), "")


def node_of(claim: Object) -> str:
    """Return the node that a pod of the claim goes to; empty if any will do."""
    return _annotation(claim, SELECTED_NODE)


def wants_volume(claim: Object, chosen: Object | None) -> bool:
    """Return whether a claim waits for a folder of ours; ``chosen`` is its class."""
    if claim["spec"].get("volumeName") or claim["metadata"].get("deletionTimestamp"):
        return False
    if (
        chosen is None
        or chosen.get("provisioner") != NAME
        or _annotation(claim, *PROVISIONER_ANNOTATIONS) != NAME
    ):
        return False
    return chosen.get("volumeBindingMode") != "WaitForFirstConsumer" or bool(node_of(claim))


def problem(claim: Object, chosen: Object) -> str:
    """Return why a claim cannot be met, empty if it can."""
    if claim["spec"].get("volumeMode") == "Block":
        return "block volumes are not supported: folders have no device"
    if claim["spec"].get("selector"):
        return "claim.spec.selector is not supported: there is nothing to select from"
    if claim["spec"].get("dataSource") or claim["spec"].get("dataSourceRef"):
        return "claim.spec.dataSource is not supported: folders begin empty"
    if chosen.get("parameters"):
        return f"the class {chosen['metadata']['name']} has parameters, and there are none"
    return ""


def volume_name(claim: Object) -> str:
    """Return the name of a claim's volume."""
    return f"pvc-{claim['metadata']['uid']}"


def folder(claim: Object, directory: Path) -> Path:
    """Return the folder of a claim's volume; its name tells people whose data it holds."""
    meta = claim["metadata"]
    return directory / f"{volume_name(claim)}_{meta['namespace']}_{meta['name']}"


def volume(claim: Object, chosen: Object, path: Path, hostname: str) -> Object:
    """Return the volume for a claim; with a host name it can be used there alone."""
    meta = claim["metadata"]
    spec: Object = {
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "accessModes": claim["spec"]["accessModes"],
        "persistentVolumeReclaimPolicy": chosen.get("reclaimPolicy") or "Delete",
        "storageClassName": chosen["metadata"]["name"],
        "volumeMode": "Filesystem",
        "hostPath": {"path": str(path), "type": "DirectoryOrCreate"},
        "claimRef": {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta["namespace"],
            "name": meta["name"], "uid": meta["uid"], "resourceVersion": meta["resourceVersion"],
        },
    }  # fmt: skip
    if chosen.get("mountOptions"):
        spec["mountOptions"] = chosen["mountOptions"]
    if hostname:
        term = {"matchExpressions": [{"key": _HOSTNAME, "operator": "In", "values": [hostname]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    return {
        "metadata": {
            "name": volume_name(claim),
            "annotations": {PROVISIONED_BY: NAME},
            "finalizers": [FINALIZER],
        },
        "spec": spec,
    }


def may_be_removed(volume: Object) -> bool:
    """Return whether a volume is ours and nobody needs it or what is in it any more."""
    if _annotation(volume, PROVISIONED_BY) != NAME:
        return False
    if volume["spec"].get("persistentVolumeReclaimPolicy") != "Delete":
        return False
    return volume.get("status", {}).get("phase") == "Released" or (
        bool(volume["metadata"].get("deletionTimestamp")) and volume.get("status", {}).get("phase") != "Bound"
    )


def own_folder(volume: Object, directory: Path) -> Path | None:
    """Return the folder of a volume, None if it is not one of ours: nothing else is ever removed."""
    path = Path((volume["spec"].get("hostPath") or {}).get("path") or "/")
    return path if path.parent == directory and path.name.startswith("pvc-") else None
