"""persistentVolumeClaim: the volume that a claim is bound to, on hostPath or local disk."""

from __future__ import annotations

import os

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.kinds.host_path import check_host_path
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume, PathVolume, VolumeRequest

_GROUPS = ("initContainers", "containers")
_PROVISIONED = "pv.kubernetes.io/provisioned-by"


async def claimed(request: VolumeRequest, name: str, read_only: bool, owner: str = "") -> MountedVolume:
    """Return where the volume of a claim is; ``owner`` is the uid of the pod that an ephemeral claim must belong to."""
    client = request.inputs.client
    if client is None:
        raise VolumeError("this kubelet has no API server to ask")
    try:
        claim = await client.get(PERSISTENT_VOLUME_CLAIMS, name, request.namespace)
        owners = claim["metadata"].get("ownerReferences", ())
        if owner and not any(reference.get("uid") == owner for reference in owners):
            raise VolumeError(f'PVC "{request.namespace}/{name}" was not created for the pod')
        volume_name = claim["spec"].get("volumeName")
        if not volume_name or claim.get("status", {}).get("phase") != "Bound":
            raise VolumeError("PVC is not bound")
        volume = await client.get(PERSISTENT_VOLUMES, volume_name)
    except NotFound as error:
        raise VolumeError(f"error processing PVC {request.namespace}/{name}: {error}") from None
    except StatusError as error:
        raise VolumeError(f"error processing PVC {request.namespace}/{name}: {error}") from None
    if (volume["spec"].get("claimRef") or {}).get("uid") != claim["metadata"]["uid"]:
        raise VolumeError(f"PV {volume_name} is not bound to the claim {request.namespace}/{name}")
    check_volume(volume["spec"], request.name, request.pod["spec"])
    source = "hostPath" if "hostPath" in volume["spec"] else "local"
    managed = is_managed(volume) and not read_only  # who only reads changes no owners
    return MountedVolume(_path(volume["spec"]), read_only, source=source, managed=managed)


def is_managed(volume: Object) -> bool:
    """Return whether the files of a volume are those of its claims: what is shown of the machine by hostPath is the machine's.

    Unless it is a folder that was made for the claim.
    """
    return "local" in volume["spec"] or _PROVISIONED in (volume["metadata"].get("annotations") or {})


def check_volume(volume: Object, name: str, spec: Object) -> None:
    """Raise VolumeError if a volume is not what its pod takes it for, or asks for what cannot be done here."""
    mode = volume.get("volumeMode") or "Filesystem"
    wrong = "volumeDevices" if mode == "Filesystem" else "volumeMounts"
    if any(
        use["name"] == name
        for group in _GROUPS
        for container in spec.get(group, ())
        for use in container.get(wrong, ())
    ):
        raise VolumeError(f"volume {name} has volumeMode {mode}, but is specified in {wrong}")
    if mode == "Block":
        raise VolumeError("block volumes are not supported by this kubelet")
    if volume.get("mountOptions"):
        raise VolumeError("mount options are not supported for this volume type")


def _path(spec: Object) -> str:
    if "hostPath" in spec:
        path = spec["hostPath"]["path"]
        check_host_path(path, spec["hostPath"].get("type") or "")
        return path
    if "local" in spec:
        path = spec["local"]["path"]
        if not os.path.isdir(path):
            raise VolumeError(f'path "{path}" does not exist')
        return path
    known = ("accessModes", "capacity", "claimRef", "nodeAffinity", "persistentVolumeReclaimPolicy",
             "storageClassName", "mountOptions", "volumeMode", "volumeAttributesClassName")  # fmt: skip
    kind = next((key for key in spec if key not in known), "")
    raise VolumeError(f"persistent volumes of type {kind} are not supported by this kubelet")


async def _mount(request: VolumeRequest) -> MountedVolume:
    return await claimed(request, request.source["claimName"], bool(request.source.get("readOnly")))


VOLUME = PathVolume("persistentVolumeClaim", _mount)
