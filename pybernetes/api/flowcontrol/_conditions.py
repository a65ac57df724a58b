"""Checks of the conditions of both kinds."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object


def validate_conditions(obj: Object, errors: Errors) -> None:
    """Check that each type of condition is named once."""
    seen: set[str] = set()
    for index, condition in enumerate(obj.get("status", {}).get("conditions", ())):
        kind = condition.get("type", "")
        path = (Path("status") / "conditions")[index] / "type"
        if kind in seen:
            errors.duplicate(path, kind)
        seen.add(kind)
        if not kind:
            errors.required(path)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the new status."""
    validate_conditions(new, errors)
