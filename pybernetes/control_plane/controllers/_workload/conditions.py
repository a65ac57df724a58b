"""Conditions in a status. Lists are never changed in place: what is in a cache belongs to everybody."""

from __future__ import annotations

from typing import Any

from pybernetes.lib import rfc3339

Condition = dict[str, Any]


def find(conditions: list[Condition] | None, type_: str) -> Condition | None:
    """The condition of a type, or None."""
    for each in conditions or ():
        if each["type"] == type_:
            return each
    return None


def without(conditions: list[Condition] | None, type_: str) -> list[Condition]:
    """The conditions of the other types."""
    return [each for each in conditions or () if each["type"] != type_]


def with_condition(conditions: list[Condition] | None, new: Condition) -> list[Condition]:
    """The conditions with a new one at their end, unless one of the same status and reason is there.

    The time of the transition stays while the status does.
    """
    old = find(conditions, new["type"])
    if old is not None:
        if old["status"] == new["status"] and old.get("reason") == new.get("reason"):
            return list(conditions or ())
        if old["status"] == new["status"] and "lastTransitionTime" in old:
            new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    return [*without(conditions, new["type"]), new]


def condition(type_: str, status: str, reason: str, message: str, now: float) -> Condition:
    """A new condition that was turned now."""
    return {
        "type": type_,
        "status": status,
        "lastTransitionTime": rfc3339.seconds(now),
        "reason": reason,
        "message": message,
    }
