"""What a pod's status says: active, ready, available, at its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pybernetes.lib.rfc3339 import parse

Object = dict[str, Any]
_ENDED = ("Succeeded", "Failed")


def phase(pod: Object) -> str:
    """The phase, empty for a pod that is not stored yet."""
    return pod.get("status", {}).get("phase", "")


def is_terminal(pod: Object) -> bool:
    """Whether the pod has come to its end and will not run again."""
    return phase(pod) in _ENDED


def is_deleted(pod: Object) -> bool:
    """Whether the pod is on its way out."""
    return "deletionTimestamp" in pod["metadata"]


def is_active(pod: Object) -> bool:
    """Whether the pod runs or will."""
    return "deletionTimestamp" not in pod["metadata"] and pod.get("status", {}).get("phase") not in _ENDED


def is_terminating(pod: Object) -> bool:
    """Whether the pod is on its way out and still runs."""
    return "deletionTimestamp" in pod["metadata"] and pod.get("status", {}).get("phase") not in _ENDED


def condition(pod: Object, type_: str) -> Object | None:
    """The condition of a type."""
    for each in pod.get("status", {}).get("conditions") or ():
        if each["type"] == type_:
            return each
    return None


def ready_condition(pod: Object) -> Object | None:
    """The condition Ready if it is true."""
    for each in pod.get("status", {}).get("conditions") or ():
        if each["type"] == "Ready":
            return each if each["status"] == "True" else None
    return None


def is_ready(pod: Object) -> bool:
    """Whether the pod says that it is ready."""
    return ready_condition(pod) is not None


def is_available(pod: Object, min_ready_seconds: int, now: float) -> bool:
    """Whether the pod has been ready for long enough."""
    ready = ready_condition(pod)
    if ready is None:
        return False
    if not min_ready_seconds:
        return True
    since = ready.get("lastTransitionTime")
    return since is not None and parse(since) + min_ready_seconds <= now


def next_availability(pods: Iterable[Object], min_ready_seconds: int, now: float) -> float | None:
    """In how many seconds the next ready pod becomes available, if one is to."""
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
    """When the pod came to its end, as well as its status tells."""
    status, meta = pod.get("status", {}), pod["metadata"]
    sidecars = {each["name"] for each in pod["spec"].get("initContainers") or () if each.get("restartPolicy")}
    ends = [_ended(each) for each in status.get("containerStatuses") or ()]
    ends += [_ended(each) for each in status.get("initContainerStatuses") or () if each["name"] in sidecars]
    if ends and all(ends):
        return max(parse(end) for end in ends)
    ready = condition(pod, "Ready")
    if ready is not None and ready["status"] == "False" and "lastTransitionTime" in ready:
        return parse(ready["lastTransitionTime"])
    if "deletionTimestamp" in meta:
        return parse(meta["deletionTimestamp"]) - meta.get("deletionGracePeriodSeconds", 0)
    return parse(meta["creationTimestamp"])


def _ended(container: Object) -> str:
    return (container.get("state", {}).get("terminated") or {}).get("finishedAt", "")
