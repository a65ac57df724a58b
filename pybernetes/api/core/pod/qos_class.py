"""The quality of service class of a pod, which follows from its requests and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybernetes.api import quantity
from pybernetes.api.core.pod.pod_level_resources import POD_LEVEL, pod_level_set

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def _requirements_class(resources: Object) -> str:
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    if not requests and not limits:
        return "BestEffort"
    classes = set()
    for name in POD_LEVEL:
        request, limit = requests.get(name, "0"), limits.get(name, "0")
        value = quantity.parse(request)
        if request != limit and value != quantity.parse(limit):
            return "Burstable"
        classes.add("Guaranteed" if value else "BestEffort")
    return classes.pop() if len(classes) == 1 else "Burstable"


def qos_class(spec: Object) -> str:
    """Return ``Guaranteed``, ``Burstable`` or ``BestEffort``."""
    if pod_level_set(spec):
        return _requirements_class(spec["resources"])
    classes = {
        _requirements_class(container.get("resources", {}))
        for key in ("initContainers", "containers")
        for container in spec.get(key, ())
    }
    return classes.pop() if len(classes) == 1 else "Burstable" if classes else "BestEffort"


def pod_qos_class(pod: Object) -> str:
    """Return the class that the status of a pod says, or else the one that follows from its specification."""
    return pod.get("status", {}).get("qosClass") or qos_class(pod["spec"])
