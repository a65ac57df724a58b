"""What controllers ask about a pod."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def condition(obj: Object, type_: str) -> Object | None:
    """The condition of a type in a status, or None."""
    for each in obj.get("status", {}).get("conditions") or ():
        if each["type"] == type_:
            return each
    return None


def is_true(obj: Object, type_: str) -> bool:
    """Whether a condition is there and true."""
    found = condition(obj, type_)
    return found is not None and found["status"] == "True"


def is_ready(pod: Object) -> bool:
    """Whether a pod (or a node) says that it is ready."""
    return is_true(pod, "Ready")


def is_terminal(pod: Object) -> bool:
    """Whether all of a pod's containers have ended for good."""
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def is_going(obj: Object) -> bool:
    """Whether an object is being deleted."""
    return "deletionTimestamp" in obj["metadata"]


def by_node(pod: Object) -> tuple[str, ...]:
    """Index: the node that a pod is on."""
    node = pod["spec"].get("nodeName")
    return (node,) if node else ()
