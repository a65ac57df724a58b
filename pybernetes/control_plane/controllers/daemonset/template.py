"""The pods of a DaemonSet: what they tolerate, which node they are for, which template they come from."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.controllers._workload.revisions import POD_LABEL
from pybernetes.control_plane.controllers._workload.templates import pod_from

Object = dict[str, Any]
_GENERATION = "deprecated.daemonset.template.generation"
_GENERATION_LABEL = "pod-template-generation"
_NODE = "node.kubernetes.io"


def _toleration(taint: str, effect: str) -> Object:
    return {"key": f"{_NODE}/{taint}", "operator": "Exists", "effect": effect}


_TOLERATED = (
    _toleration("not-ready", "NoExecute"),
    _toleration("unreachable", "NoExecute"),
    _toleration("disk-pressure", "NoSchedule"),
    _toleration("memory-pressure", "NoSchedule"),
    _toleration("pid-pressure", "NoSchedule"),
    _toleration("unschedulable", "NoSchedule"),
)


def tolerations(pod_spec: Object) -> list[Object]:
    """What daemons put up with: they are there to look after nodes in trouble."""
    found = list(pod_spec.get("tolerations") or ())
    wanted: tuple[Object, ...] = _TOLERATED
    if pod_spec.get("hostNetwork"):
        wanted = (*wanted, _toleration("network-unavailable", "NoSchedule"))
    for each in wanted:
        same = [n for n, known in enumerate(found) if _same(known, each)]
        if same:
            found[same[0]] = each
        else:
            found.append(each)
    return found


def _same(a: Object, b: Object) -> bool:
    return all(a.get(name, "") == b.get(name, "") for name in ("key", "operator", "value", "effect"))


def pod_for(daemon_set: Object, node: str, hash_: str, reference: Object) -> Object:
    """The pod for a node. The scheduler puts it there: its affinity leaves no other choice."""
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
    """The number of the template as old clients count, empty if there is none."""
    text = (daemon_set["metadata"].get("annotations") or {}).get(_GENERATION, "")
    return text if text.isdecimal() else ""


def is_updated(pod: Object, daemon_set: Object, hash_: str) -> bool:
    """Whether a pod comes from the template of now."""
    labels = pod["metadata"].get("labels") or {}
    if hash_ and labels.get(POD_LABEL) == hash_:
        return True
    generation = template_generation(daemon_set)
    return bool(generation) and labels.get(_GENERATION_LABEL) == generation


def node_of(pod: Object) -> str:
    """The node that a pod is on or for; empty if that cannot be told."""
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
