"""Conditions: a word, a reason and a message each; the time is when the word last changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.api.resource import Object

_MOST = 1024  # characters of a message


class Condition(NamedTuple):
    """A condition as it should be."""

    type: str
    status: bool
    reason: str
    message: str = ""


def merged(old: Iterable[Object], wanted: Iterable[Condition], generation: int, now: str) -> list[Object]:
    """Return conditions as they are written: others' are kept, and ours have the time of their last change."""
    known = {condition["type"]: condition for condition in old}
    result: list[Object] = []
    for condition in wanted:
        status = "True" if condition.status else "False"
        before = known.pop(condition.type, {})
        result.append({
            "type": condition.type, "status": status, "reason": condition.reason, "message": condition.message[:_MOST],
            "observedGeneration": generation,
            "lastTransitionTime": before["lastTransitionTime"] if before.get("status") == status else now,
        })  # fmt: skip
    return [*result, *known.values()]
