"""What the status of a pod says: active, ready, available, ended."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.conditions import condition_of
from pybernetes.lib.rfc3339 import parse

_ENDED = ("Succeeded", "Failed")


def phase(pod: Object) -> str:
    """Return the phase, empty for a pod that is not stored yet."""
    return pod.get("status", {}).get("phase", "")


def is_terminal(pod: Object) -> bool:
    """Return whether the pod has ended for good."""
    return phase(pod) in _ENDED


def is_active(pod: Object) -> bool:
    """Return whether the pod runs or will run."""
    return "deletionTimestamp" not in pod["metadata"] and pod.get("status", {}).get("phase") not in _ENDED


def is_terminating(pod: Object) -> bool:
    """Return whether the pod is being deleted and still runs."""
    return "deletionTimestamp" in pod["metadata"] and pod.get("status", {}).get("phase") not in _ENDED


def ready_condition(pod: Object) -> Object | None:
    """Return the condition Ready if it is true."""
    for condition in pod.get("status", {}).get("conditions") or ():
        if condition["type"] == "Ready":
            return condition if condition["status"] == "True" else None
    return None


def is_ready(pod: Object) -> bool:
    """Return whether a pod, or a node, is ready."""
    return ready_condition(pod) is not None


def is_available(pod: Object, min_ready_seconds: int, now: float) -> bool:
    """Return whether the pod has been ready for long enough."""
    ready = ready_condition(pod)
    if ready is None:
        return False
    if not min_ready_seconds:
        return True
    since = ready.get("lastTransitionTime")
    return since is not None and parse(since) + min_ready_seconds <= now


def next_availability(pods: Iterable[Object], min_ready_seconds: int, now: float) -> float | None:
    """Return in how many seconds the next ready pod becomes available, or None."""
    if not min_ready_seconds:
        return None
    left = []
    for pod in pods:
        ready = ready_condition(pod)
        if ready is not None and "lastTransitionTime" in ready:
            remaining = parse(ready["lastTransitionTime"]) + min_ready_seconds - now
            if remaining > 0:
                left.append(remaining)
    return min(left, default=None)


def finished_at(pod: Object) -> float:
    """Return when the pod ended, as far as its status tells."""
    status, meta = pod.get("status", {}), pod["metadata"]
    sidecars = {
        container["name"]
        for container in pod["spec"].get("initContainers") or ()
        if container.get("restartPolicy")
    }
    ends = [_ended(container) for container in status.get("containerStatuses") or ()]
    ends += [
        _ended(container)
        for container in status.get("initContainerStatuses") or ()
        if container["name"] in sidecars
    ]
    if ends and all(ends):
        return max(parse(end) for end in ends)
    ready = condition_of(pod, "Ready")
    if ready is not None and ready["status"] == "False" and "lastTransitionTime" in ready:
        return parse(ready["lastTransitionTime"])
    if "deletionTimestamp" in meta:
        return parse(meta["deletionTimestamp"]) - meta.get("deletionGracePeriodSeconds", 0)
    return parse(meta["creationTimestamp"])


def _ended(container: Object) -> str:
    return (container.get("state", {}).get("terminated") or {}).get("finishedAt", "")


def by_node(pod: Object) -> tuple[str, ...]:
    """Index pods by their node."""
    node = pod["spec"].get("nodeName")
    return (node,) if node else ()
