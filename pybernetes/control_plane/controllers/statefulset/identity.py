"""What makes a pod of a StatefulSet itself: its ordinal, its name, its volumes."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.controllers._workload.revisions import POD_LABEL
from pybernetes.control_plane.controllers._workload.templates import pod_from

Object = dict[str, Any]
NAME_LABEL = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL = "apps.kubernetes.io/pod-index"


def place(pod: Object) -> tuple[str, int]:
    """The name of the set that a pod belongs to by its own name, and its ordinal; -1 if it has none."""
    parent, dash, number = pod["metadata"]["name"].rpartition("-")
    if not dash or not (number.isascii() and number.isdecimal()) or int(number) >= 2**31:
        return "", -1
    return parent, int(number)


def ordinal(pod: Object) -> int:
    """The place of a pod, or -1."""
    return place(pod)[1]


def ordinals(stateful_set: Object) -> range:
    """The places that a set has."""
    spec = stateful_set["spec"]
    start = spec.get("ordinals", {}).get("start", 0)
    return range(start, start + spec.get("replicas", 1))


def pod_name(stateful_set: Object, number: int) -> str:
    """The name of the pod at a place."""
    return f"{stateful_set['metadata']['name']}-{number}"


def revision_of(pod: Object) -> str:
    """The name of the revision that a pod was made after."""
    return (pod["metadata"].get("labels") or {}).get(POD_LABEL, "")


def claim_name(stateful_set: Object, template: Object, number: int) -> str:
    """The name of a volume claim of the pod at a place."""
    return f"{template['metadata']['name']}-{pod_name(stateful_set, number)}"


def claims_of(stateful_set: Object, number: int) -> list[Object]:
    """The volume claims that the pod at a place is to have."""
    spec, namespace = stateful_set["spec"], stateful_set["metadata"]["namespace"]
    found = []
    for template in spec.get("volumeClaimTemplates") or ():
        given = template["metadata"]
        meta = {
            **{name: given[name] for name in ("annotations", "finalizers") if given.get(name)},
            "name": claim_name(stateful_set, template, number),
            "namespace": namespace,
            "labels": {**given.get("labels", {}), **spec["selector"].get("matchLabels", {})},
        }
        found.append({"metadata": meta, "spec": template.get("spec", {})})
    return found


def _volumes(stateful_set: Object, number: int, given: list[Object]) -> list[Object]:
    """Volumes with the set's claims in front of those that the template brings."""
    templates = stateful_set["spec"].get("volumeClaimTemplates") or ()
    found = []
    for template in templates:
        source = {"claimName": claim_name(stateful_set, template, number)}
        found.append({"name": template["metadata"]["name"], "persistentVolumeClaim": source})
    names = {each["name"] for each in found}
    return found + [each for each in given if each["name"] not in names]


def new_pod(stateful_set: Object, template: Object, revision: str, number: int, reference: Object) -> Object:
    """The pod for a place."""
    pod = pod_from(template, stateful_set, reference)
    spec = stateful_set["spec"]
    name = pod_name(stateful_set, number)
    pod_spec = {**pod["spec"], "hostname": name}
    if spec.get("serviceName"):
        pod_spec["subdomain"] = spec["serviceName"]
    volumes = _volumes(stateful_set, number, pod_spec.get("volumes") or [])
    if volumes:
        pod_spec["volumes"] = volumes
    meta = {
        **pod["metadata"],
        "name": name,
        "namespace": stateful_set["metadata"]["namespace"],
        "labels": {
            **pod["metadata"].get("labels", {}),
            NAME_LABEL: name,
            INDEX_LABEL: str(number),
            POD_LABEL: revision,
        },
    }
    return {"metadata": meta, "spec": pod_spec}


def is_itself(stateful_set: Object, pod: Object) -> bool:
    """Whether a pod has the name, the label and the volumes that belong to its place."""
    parent, number = place(pod)
    meta = pod["metadata"]
    if parent != stateful_set["metadata"]["name"] or number < 0:
        return False
    if (
        meta["name"] != pod_name(stateful_set, number)
        or (meta.get("labels") or {}).get(NAME_LABEL) != meta["name"]
    ):
        return False
    volumes = {each["name"]: each for each in pod["spec"].get("volumes") or ()}
    for template in stateful_set["spec"].get("volumeClaimTemplates") or ():
        source = volumes.get(template["metadata"]["name"], {}).get("persistentVolumeClaim", {})
        if source.get("claimName") != claim_name(stateful_set, template, number):
            return False
    return True


def itself(stateful_set: Object, pod: Object) -> Object:
    """A pod made to be itself again."""
    number = ordinal(pod)
    meta, name = pod["metadata"], pod_name(stateful_set, number)
    labels = {**(meta.get("labels") or {}), NAME_LABEL: name, INDEX_LABEL: str(number)}
    volumes = _volumes(stateful_set, number, pod["spec"].get("volumes") or [])
    return {
        **pod,
        "metadata": {**meta, "labels": labels},
        "spec": {**pod["spec"], **({"volumes": volumes} if volumes else {})},
    }
