"""The pods of a DaemonSet: which node they are for, which template they come from."""

from __future__ import annotations

from pybernetes.api.core.pod.daemon_tolerations import tolerations
from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.revisions import POD_LABEL
from pybernetes.control_plane.controllers._workload.templates import pod_from

_GENERATION = "deprecated.daemonset.template.generation"
_GENERATION_LABEL = "pod-template-generation"


def pod_for(daemon_set: Object, node: str, hash_: str, reference: Object) -> Object:
    """Return the pod for a node; its affinity leaves the scheduler no other choice."""
    pod = pod_from(daemon_set["spec"]["template"], daemon_set, reference)
    labels = {**pod["metadata"].get("labels", {}), POD_LABEL: hash_}
    generation = template_generation(daemon_set)
    if generation:
        labels[_GENERATION_LABEL] = generation
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    node_affinity = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": required,
    }
    return {
        "metadata": {**pod["metadata"], "labels": labels},
        "spec": {
            **spec,
            "tolerations": tolerations(spec),
            "affinity": {**affinity, "nodeAffinity": node_affinity},
        },
    }


def template_generation(daemon_set: Object) -> str:
    """Return the template's generation as old clients count it, or an empty string."""
    text = (daemon_set["metadata"].get("annotations") or {}).get(_GENERATION, "")
    return text if text.isdecimal() else ""


def is_updated(pod: Object, daemon_set: Object, hash_: str) -> bool:
    """Return whether a pod comes from the current template."""
    labels = pod["metadata"].get("labels") or {}
    if hash_ and labels.get(POD_LABEL) == hash_:
        return True
    generation = template_generation(daemon_set)
    return bool(generation) and labels.get(_GENERATION_LABEL) == generation


def node_of(pod: Object) -> str:
    """Return the node that a pod is on or for, or an empty string."""
    spec = pod["spec"]
    if spec.get("nodeName"):
        return spec["nodeName"]
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    for term in affinity.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and field["operator"] == "In":
                return field["values"][0] if len(field.get("values") or ()) == 1 else ""
    return ""
