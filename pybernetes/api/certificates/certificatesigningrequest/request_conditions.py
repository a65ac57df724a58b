"""The conditions of certificate signing requests: who decided what, and when."""

from __future__ import annotations

from pybernetes.api import current_time
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object

PATH = Path("status") / "conditions"
_FINAL = ("Approved", "Denied", "Failed")
_STATUSES = ("False", "True", "Unknown")


def conditions(obj: Object) -> list[Object]:
    """Return the conditions of a request."""
    return obj.get("status", {}).get("conditions", [])


def of_type(obj: Object, kind: str) -> list[Object]:
    """Return the conditions of one type."""
    return [condition for condition in conditions(obj) if condition.get("type") == kind]


def stamp(new: Object, old: Object) -> None:
    """Complete the times of conditions: the last transition is kept while the status stays."""
    for condition in conditions(new):
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = current_time.timestamp()
        if condition.get("lastTransitionTime"):
            continue
        kept = [
            item["lastTransitionTime"]
            for item in conditions(old)
            if item.get("type") == condition.get("type")
            and item.get("status") == condition.get("status")
            and item.get("lastTransitionTime")
        ]
        condition["lastTransitionTime"] = kept[0] if kept else current_time.timestamp()


def keep_decision(new: Object, old: Object) -> None:
    """Put the old Approved and Denied conditions back, unless their number changed."""
    for kind in ("Approved", "Denied"):
        before = of_type(old, kind)
        places = [index for index, item in enumerate(conditions(new)) if item.get("type") == kind]
        if len(before) == len(places):
            for index, condition in zip(places, before, strict=True):
                new["status"]["conditions"][index] = dict(condition)


def validate(obj: Object, errors: Errors) -> None:
    """Check each condition; what is final can only be true."""
    seen: set[str] = set()
    for index, condition in enumerate(conditions(obj)):
        kind, status = condition.get("type", ""), condition.get("status", "")
        if not kind:
            errors.required(PATH[index] / "type")
        allowed = ("True",) if kind in _FINAL else _STATUSES
        if not status:
            errors.required(PATH[index] / "status")
        elif status not in allowed:
            errors.unsupported(PATH[index] / "status", status, allowed)
        if kind in seen:
            errors.duplicate(PATH[index] / "type", kind)
        seen.add(kind)


def validate_one_decision(obj: Object, errors: Errors) -> None:
    """Check that a request is not both approved and denied."""
    decided = [item["type"] for item in conditions(obj) if item.get("type") in ("Approved", "Denied")]
    if len(set(decided)) == 2:
        options = [f'conditions[{{"type": "{kind}"}}]' for kind in ("Approved", "Denied")]
        text = "must specify at most one of: " + ", ".join(f"`{option}`" for option in options)
        errors.invalid(PATH, "{" + ", ".join(options) + "}", text)


def validate_update(new: Object, old: Object, errors: Errors, *, deciding: bool) -> None:
    """Check that nothing final is taken back, and that only the approval subresource decides."""
    for kind in _FINAL:
        if len(of_type(new, kind)) < len(of_type(old, kind)):
            errors.forbidden(PATH, f'updates may not remove a condition of type "{kind}"')
    if deciding:
        return
    for kind in ("Approved", "Denied"):
        after, before = of_type(new, kind), of_type(old, kind)
        if len(after) > len(before):
            errors.forbidden(PATH, f'updates may not add a condition of type "{kind}"')
        elif len(after) == len(before) and after != before:
            errors.forbidden(PATH, f'updates may not modify a condition of type "{kind}"')
