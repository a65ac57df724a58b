"""Conditions in a status. Lists are never changed in place: what is in a cache belongs to everybody."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339


def find(conditions: list[Object] | None, type_: str) -> Object | None:
    """Return the condition of a type, or None."""
    for condition in conditions or ():
        if condition["type"] == type_:
            return condition
    return None


def condition_of(obj: Object, type_: str) -> Object | None:
    """Return the condition of a type in the status of an object, or None."""
    return find(obj.get("status", {}).get("conditions"), type_)


def is_true(obj: Object, type_: str) -> bool:
    """Return whether a condition of an object is true."""
    condition = condition_of(obj, type_)
    return condition is not None and condition["status"] == "True"


def without(conditions: list[Object] | None, type_: str) -> list[Object]:
    """Return the conditions of the other types."""
    return [condition for condition in conditions or () if condition["type"] != type_]


def with_condition(conditions: list[Object] | None, new: Object) -> list[Object]:
    """Return the conditions with a new one at the end, unless one of the same status and reason is there.

    The time of the transition stays while the status does.
    """
    old = find(conditions, new["type"])
    if old is not None:
        if old["status"] == new["status"] and old.get("reason") == new.get("reason"):
            return list(conditions or ())
        if old["status"] == new["status"] and "lastTransitionTime" in old:
            new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    return [*without(conditions, new["type"]), new]


def condition(type_: str, status: str, reason: str, message: str, now: float) -> Object:
    """Return a new condition with the current time."""
    return {
        "type": type_,
        "status": status,
        "lastTransitionTime": rfc3339.seconds(now),
        "reason": reason,
        "message": message,
    }
