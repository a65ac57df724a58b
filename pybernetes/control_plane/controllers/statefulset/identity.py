"""What makes a pod of a StatefulSet itself: its ordinal, its name, its volumes."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.revisions import POD_LABEL
from pybernetes.control_plane.controllers._workload.templates import pod_from

NAME_LABEL = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL = "apps.kubernetes.io/pod-index"


def place(pod: Object) -> tuple[str, int]:
    """Return the name of the set and the ordinal from a pod's name; -1 if it has no ordinal."""
    parent, dash, number = pod["metadata"]["name"].rpartition("-")
    if not dash or not (number.isascii() and number.isdecimal()) or int(number) >= 2**31:
        return "", -1
    return parent, int(number)


def ordinal(pod: Object) -> int:
    """Return the ordinal of a pod, or -1."""
    return place(pod)[1]


def ordinals(stateful_set: Object) -> range:
    """Return the ordinals that a set has."""
    spec = stateful_set["spec"]
    start = spec.get("ordinals", {}).get("start", 0)
    return range(start, start + spec.get("replicas", 1))


def pod_name(stateful_set: Object, number: int) -> str:
    """Return the name of the pod of an ordinal."""
    return f"{stateful_set['metadata']['name']}-{number}"


def revision_of(pod: Object) -> str:
    """Return the name of the revision that a pod comes from."""
    return (pod["metadata"].get("labels") or {}).get(POD_LABEL, "")


def claim_name(stateful_set: Object, template: Object, number: int) -> str:
    """Return the name of a volume claim of the pod of an ordinal."""
    return f"{template['metadata']['name']}-{pod_name(stateful_set, number)}"


def claims_of(stateful_set: Object, number: int) -> list[Object]:
    """Return the volume claims that the pod of an ordinal is to have."""
    spec, namespace = stateful_set["spec"], stateful_set["metadata"]["namespace"]
    claims = []
    for template in spec.get("volumeClaimTemplates") or ():
        given = template["metadata"]
        meta = {
            **{name: given[name] for name in ("annotations", "finalizers") if given.get(name)},
            "name": claim_name(stateful_set, template, number),
            "namespace": namespace,
            "labels": {**given.get("labels", {}), **spec["selector"].get("matchLabels", {})},
        }
        claims.append({"metadata": meta, "spec": template.get("spec", {})})
    return claims


def _volumes(stateful_set: Object, number: int, given: list[Object]) -> list[Object]:
    """Return volumes with the set's claims before those of the template."""
    templates = stateful_set["spec"].get("volumeClaimTemplates") or ()
    volumes = []
    for template in templates:
        source = {"claimName": claim_name(stateful_set, template, number)}
        volumes.append({"name": template["metadata"]["name"], "persistentVolumeClaim": source})
    names = {volume["name"] for volume in volumes}
    return volumes + [volume for volume in given if volume["name"] not in names]


def new_pod(stateful_set: Object, template: Object, revision: str, number: int, reference: Object) -> Object:
    """Return the new pod of an ordinal."""
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
    """Return whether a pod has the name, the label and the volumes of its ordinal."""
    parent, number = place(pod)
    meta = pod["metadata"]
    if parent != stateful_set["metadata"]["name"] or number < 0:
        return False
    if (
        meta["name"] != pod_name(stateful_set, number)
        or (meta.get("labels") or {}).get(NAME_LABEL) != meta["name"]
    ):
        return False
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    for template in stateful_set["spec"].get("volumeClaimTemplates") or ():
        source = volumes.get(template["metadata"]["name"], {}).get("persistentVolumeClaim", {})
        if source.get("claimName") != claim_name(stateful_set, template, number):
            return False
    return True


def itself(stateful_set: Object, pod: Object) -> Object:
    """Return a pod with its identity restored."""
    number = ordinal(pod)
    meta, name = pod["metadata"], pod_name(stateful_set, number)
    labels = {**(meta.get("labels") or {}), NAME_LABEL: name, INDEX_LABEL: str(number)}
    volumes = _volumes(stateful_set, number, pod["spec"].get("volumes") or [])
    return {
        **pod,
        "metadata": {**meta, "labels": labels},
        "spec": {**pod["spec"], **({"volumes": volumes} if volumes else {})},
    }
