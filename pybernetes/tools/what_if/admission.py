"""What the API server's default admission plugins would make of a new pod, as far as its place depends on it."""

from __future__ import annotations

from pybernetes.api.core.pod.tolerations import tolerate_for_a_while
from pybernetes.api.quota import limit_ranges
from pybernetes.api.resource import Object
from pybernetes.api.scheduling.priorityclass import SYSTEM_CLASSES, default_priority_class
from pybernetes.scheduling.listers import Listers
from pybernetes.tools.what_if.cluster import QuestionError

# What the API server's flags say unless they are given.
_TROUBLE = {"node.kubernetes.io/not-ready": 300, "node.kubernetes.io/unreachable": 300}


def admit(pod: Object, listers: Listers) -> None:
    """Complete a pod in place: its priority, usual requests of its namespace, tolerations, overhead."""
    _set_priority(pod, listers)
    namespace = pod["metadata"]["namespace"]
    for limit_range in listers.all("limitranges"):
        if limit_range["metadata"].get("namespace") == namespace:
            limit_ranges.default_pod(limit_range, pod)
    tolerate_for_a_while(pod["spec"], _TROUBLE)
    runtime = pod["spec"].get("runtimeClassName")
    if runtime:
        _set_runtime(pod, listers.get("runtimeclasses", runtime), runtime)


def _set_priority(pod: Object, listers: Listers) -> None:
    spec = pod["spec"]
    name = spec.get("priorityClassName")
    class_ = (
        listers.get("priorityclasses", name)
        if name
        else default_priority_class(listers.all("priorityclasses"))
    )
    if class_ is not None:
        spec["priority"] = class_.get("value", 0)
        spec.setdefault("preemptionPolicy", class_.get("preemptionPolicy") or "PreemptLowerPriority")
    elif name in SYSTEM_CLASSES:
        spec["priority"] = SYSTEM_CLASSES[name]
    elif name:
        where = f"pod {pod['metadata']['name']}: spec.priorityClassName"
        raise QuestionError(f"{where}: no PriorityClass with name {name} was found")
    else:
        spec.setdefault("priority", 0)


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
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ())]
