"""Numbers and percentages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation.names import regex

NEGATIVE = "must be greater than or equal to 0"
_PERCENT = re.compile(r"[0-9]+%\Z")
_PERCENT_TEXT = "a valid percent string must be a numeric string followed by an ending '%'"


def nonnegative(value: int, path: Path, errors: Errors) -> None:
    """Report a negative number."""
    if value < 0:
        errors.invalid(path, value, NEGATIVE)


def nonnegative_fields(obj: Mapping[str, Any], names: Iterable[str], path: Path, errors: Errors) -> None:
    """Report each of the named numbers that is negative; an absent one is fine."""
    for name in names:
        if obj.get(name, 0) < 0:
            errors.invalid(path / name, obj[name], NEGATIVE)


def percent(text: str) -> list[str]:
    """Return what is wrong with a percentage such as ``25%``."""
    return [] if _PERCENT.match(text) else [regex(_PERCENT_TEXT, "[0-9]+%", "1%", "93%")]


def percent_value(value: int | str) -> int | None:
    """Return the number before the percent sign, or None if the value is no percentage."""
    return int(value[:-1]) if isinstance(value, str) and _PERCENT.match(value) else None


def int_or_percent_value(value: int | str) -> int:
    """Return the number in a count or a percentage; 0 if there is none."""
    if isinstance(value, int):
        return value
    share = percent_value(value)
    if share is not None:
        return share
    return int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else 0


def int_or_percent(value: int | str, path: Path, errors: Errors) -> None:
    """Check a count that may be given as a percentage."""
    if isinstance(value, str):
        for problem in percent(value):
            errors.invalid(path, value, problem)
    else:
        nonnegative(value, path, errors)


def at_most_100_percent(value: int | str, path: Path, errors: Errors) -> None:
    """Report a percentage above 100."""
    if (percent_value(value) or 0) > 100:
        errors.invalid(path, value, "must not be greater than 100%")
