"""What the API server's default admission plugins would make of a new pod, as far as its place depends on it."""

from __future__ import annotations

from pybernetes.api.quota import limit_ranges
from pybernetes.api.resource import Object
from pybernetes.scheduling.listers import Listers
from pybernetes.tools.what_if.cluster import QuestionError

_TROUBLE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
# Classes that every cluster has.
_SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit(pod: Object, listers: Listers) -> None:
    """Complete a pod in place: its priority, usual requests of its namespace, tolerations, overhead."""
    _set_priority(pod, listers)
    namespace = pod["metadata"]["namespace"]
    for limit_range in listers.all("limitranges"):
        if limit_range["metadata"].get("namespace") == namespace:
            limit_ranges.default_pod(limit_range, pod)
    _set_tolerations(pod["spec"])
    runtime = pod["spec"].get("runtimeClassName")
    if runtime:
        _set_runtime(pod, listers.get("runtimeclasses", runtime), runtime)


def _set_priority(pod: Object, listers: Listers) -> None:
    spec = pod["spec"]
    name = spec.get("priorityClassName")
    class_ = listers.get("priorityclasses", name) if name else _default_class(listers)
    if class_ is not None:
        spec["priority"] = class_.get("value", 0)
        spec.setdefault("preemptionPolicy", class_.get("preemptionPolicy") or "PreemptLowerPriority")
    elif name in _SYSTEM:
        spec["priority"] = _SYSTEM[name]
    elif name:
        where = f"pod {pod['metadata']['name']}: spec.priorityClassName"
        raise QuestionError(f"{where}: no PriorityClass with name {name} was found")
    else:
        spec.setdefault("priority", 0)


def _default_class(listers: Listers) -> Object | None:
    marked = [class_ for class_ in listers.all("priorityclasses") if class_.get("globalDefault")]
    return min(marked, key=lambda class_: class_.get("value", 0), default=None)


def _set_tolerations(spec: Object) -> None:
    tolerations = list(spec.get("tolerations") or ())
    tolerated = {each.get("key", "") for each in tolerations if each.get("effect", "") in ("", "NoExecute")}
    if "" not in tolerated:
        for key in _TROUBLE:
            if key not in tolerated:
                tolerations.append(
                    {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
                )
    spec["tolerations"] = tolerations


def _set_runtime(pod: Object, runtime: Object | None, name: str) -> None:
    if runtime is None:
        where = f"pod {pod['metadata']['name']}: spec.runtimeClassName"
        raise QuestionError(f'{where}: RuntimeClass "{name}" not found')
    spec, scheduling = pod["spec"], runtime.get("scheduling") or {}
    overhead = (runtime.get("overhead") or {}).get("podFixed")
    if overhead:
        spec["overhead"] = overhead
    if scheduling.get("nodeSelector"):
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **scheduling["nodeSelector"]}
    spec["tolerations"] = [*spec["tolerations"], *(scheduling.get("tolerations") or ())]
