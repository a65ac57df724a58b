"""What controllers ask about a pod."""

from __future__ import annotations

from pybernetes.api.resource import Object


def condition(obj: Object, type_: str) -> Object | None:
    """Return the condition of a type in a status, or None."""
    for condition in obj.get("status", {}).get("conditions") or ():
        if condition["type"] == type_:
            return condition
    return None


def is_true(obj: Object, type_: str) -> bool:
    """Return whether a condition is true."""
    known = condition(obj, type_)
    return known is not None and known["status"] == "True"


def is_ready(pod: Object) -> bool:
    """Return whether a pod (or a node) says that it is ready."""
    return is_true(pod, "Ready")


def is_terminal(pod: Object) -> bool:
    """Return whether a pod has ended for good."""
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def is_going(obj: Object) -> bool:
    """Return whether an object is being deleted."""
    return "deletionTimestamp" in obj["metadata"]


def by_node(pod: Object) -> tuple[str, ...]:
    """Index pods by their node."""
    node = pod["spec"].get("nodeName")
    return (node,) if node else ()
