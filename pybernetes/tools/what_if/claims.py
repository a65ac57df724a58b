"""Claims that would be made along with pods, and what would become of them."""

from __future__ import annotations

from pybernetes.api.default_class import STORAGE, default_class
from pybernetes.api.resource import Object
from pybernetes.client.client import copy
from pybernetes.tools.what_if.cluster import Cluster


def add_claims(cluster: Cluster, pod: Object) -> None:
    """Add the claims that would be made for a pod's ephemeral volumes."""
    meta = pod["metadata"]
    for volume in pod["spec"].get("volumes") or ():
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template:
            owner = {
                "kind": "Pod",
                "apiVersion": "v1",
                "name": meta["name"],
                "uid": meta["uid"],
                "controller": True,
            }
            add_claim(
                cluster, meta["namespace"], f"{meta['name']}-{volume['name']}", template["spec"], [owner]
            )


def add_claim(
    cluster: Cluster, namespace: str, name: str, spec: Object, owners: list[Object] | None = None
) -> None:
    """Add a claim that would be made along with a pod, unless it exists."""
    if cluster.listers.get("persistentvolumeclaims", f"{namespace}/{name}") is not None:
        return
    meta: Object = {"name": name, "namespace": namespace, "uid": f"what-if/{namespace}/{name}"}
    if owners:
        meta["ownerReferences"] = owners
    claim = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "metadata": meta,
        "spec": copy(spec),
        "status": {},
    }
    store_claim(cluster, claim)


def store_claim(cluster: Cluster, claim: Object) -> None:
    """Add a claim that does not exist yet. If its class does not wait for a pod, it gets a volume that is anywhere."""
    spec, meta = claim["spec"], claim["metadata"]
    if spec.get("storageClassName") is None:
        default = default_class(cluster.listers.all("storageclasses"), STORAGE)
        if default is not None:
            spec["storageClassName"] = default["metadata"]["name"]
    class_ = cluster.listers.get("storageclasses", spec.get("storageClassName") or "")
    makes = class_ is not None and class_.get("provisioner") not in ("", "kubernetes.io/no-provisioner")
    if makes and class_ is not None and class_.get("volumeBindingMode", "Immediate") == "Immediate":
        volume = f"what-if-{meta['namespace']}-{meta['name']}"
        spec["volumeName"] = volume
        meta.setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
        pv = {
            "metadata": {"name": volume},
            "spec": {"capacity": (spec.get("resources") or {}).get("requests") or {}},
        }
        cluster.listers.set("persistentvolumes", volume, pv)
    cluster.listers.set("persistentvolumeclaims", f"{meta['namespace']}/{meta['name']}", claim)
