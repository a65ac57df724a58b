"""Checks of selectors inside objects."""

from __future__ import annotations

from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import meta, names


def validate_label_selector(
    selector: dict[str, Any] | None, path: Path, errors: Errors, *, allow_invalid_values: bool = False
) -> None:
    """Checks a LabelSelector; ``allow_invalid_values`` is for objects that already hold such values."""
    if not selector:
        return
    if "matchLabels" in selector:
        meta.labels(selector["matchLabels"], path / "matchLabels", errors)
    for index, expression in enumerate(selector.get("matchExpressions", ())):
        _requirement(expression, (path / "matchExpressions")[index], errors, allow_invalid_values)


def _requirement(expression: dict[str, Any], path: Path, errors: Errors, allow_invalid_values: bool) -> None:
    operator, values = expression.get("operator", ""), expression.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            errors.required(path / "values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.forbidden(
                path / "values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            )
    else:
        errors.invalid(path / "operator", operator, "not a valid selector operator")
    key = expression.get("key", "")
    for problem in names.qualified_name(key):
        errors.invalid(path / "key", key, problem)
    if allow_invalid_values:
        return
    for index, value in enumerate(values):
        for problem in names.label_value(value):
            errors.invalid((path / "values")[index], value, problem)
