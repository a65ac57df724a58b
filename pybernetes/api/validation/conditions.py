"""Conditions in the standard form (``meta/v1`` Condition)."""

from __future__ import annotations

import re

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_TEXT = names.regex(
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
    _REASON, "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB",
)  # fmt: skip
_reason = re.compile(f"(?:{_REASON})\\Z")
_STATUSES = ("False", "True", "Unknown")
_LONGEST_REASON, _LONGEST_MESSAGE = 1024, 32 * 1024


def validate_conditions(conditions: list[Object], path: Path, errors: Errors) -> None:
    """Check each condition, and that each type is there once."""
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        kind = condition.get("type", "")
        if kind in seen:
            errors.duplicate(path[index], kind)
        seen.add(kind)
        _condition(condition, path[index], errors)


def _condition(condition: Object, path: Path, errors: Errors) -> None:
    kind, status = condition.get("type", ""), condition.get("status", "")
    if not kind:
        errors.required(path / "type", "is required")
    else:
        checks.name(names.qualified_name, kind, path / "type", errors)
    if not status:
        errors.required(path / "status")
    elif status not in _STATUSES:
        errors.unsupported(path / "status", status, _STATUSES)
    generation = condition.get("observedGeneration", 0)
    if generation < 0:
        errors.invalid(path / "observedGeneration", generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        errors.required(path / "lastTransitionTime")
    reason = condition.get("reason", "")
    if not reason:
        errors.required(path / "reason")
    else:
        if not _reason.match(reason):
            errors.invalid(path / "reason", reason, _REASON_TEXT)
        if len(reason.encode()) > _LONGEST_REASON:
            errors.too_long(path / "reason", _LONGEST_REASON)
    if len(condition.get("message", "").encode()) > _LONGEST_MESSAGE:
        errors.too_long(path / "message", _LONGEST_MESSAGE)
