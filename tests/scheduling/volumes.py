"""Claims, volumes and pods that use them."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.scheduling import persistent_volumes
from tests.scheduling.builders import node, pod
from tests.scheduling.ours import Ours

ZONE = "topology.kubernetes.io/zone"


def claim(name: str, *, cls: str = "local", volume: str = "", size: str = "1Gi", **more: Any) -> Object:
    meta: Object = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        **more,
    }
    spec: Object = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": cls,
        "resources": {"requests": {"storage": size}},
    }
    if volume:
        spec["volumeName"] = volume
        meta["annotations"] = {persistent_volumes.BIND_COMPLETED: "yes"}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Bound" if volume else "Pending"}}


def volume(
    name: str, *, on: str = "", cls: str = "local", size: str = "1Gi", labels: Object | None = None
) -> Object:
    spec: Object = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": cls}
    if on:
        expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    meta = {"name": name, "labels": labels or {}, "resourceVersion": "1"}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Available"}}


def storage_class(
    name: str,
    provisioner: str = "kubernetes.io/no-provisioner",
    mode: str = "WaitForFirstConsumer",
    **more: Any,
) -> Object:
    return {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def with_claims(name: str, *claims: str) -> Object:
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return pod(name, volumes=volumes)


def world(*objects: Object) -> Ours:
    ours = Ours()
    for name in ("a", "b", "c"):
        ours.node(node(name, labels={ZONE: f"zone-{name}"}))
    ours.object("storageclasses", storage_class("local"))
    for obj in objects:
        kind = (
            "persistentvolumeclaims"
            if "accessModes" in obj.get("spec", {}) and "namespace" in obj["metadata"]
            else ""
        )
        kind = kind or ("persistentvolumes" if "capacity" in obj.get("spec", {}) else "storageclasses")
        ours.object(kind, obj)
    return ours
