"""Checks of CEL expressions: every expression of the group is checked by ``validate_expression``."""

from __future__ import annotations

import re
from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import names

_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*\Z")
_RESERVED = frozenset({
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
    "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
})  # fmt: skip
_MOST_CONDITIONS = 64


def validate_expression(expression: str, path: Path, errors: Errors, detail: str = "") -> None:
    """Checks one expression."""
    if not expression.strip():
        errors.required(path, detail)


def validate_match_conditions(conditions: list[dict[str, Any]], path: Path, errors: Errors) -> None:
    """Checks the conditions that narrow the requests."""
    if len(conditions) > _MOST_CONDITIONS:
        errors.too_many(path, len(conditions), _MOST_CONDITIONS)
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        here = path[index]
        validate_expression(condition.get("expression", ""), here / "expression", errors)
        name = condition.get("name", "")
        if not name:
            errors.required(here / "name")
            continue
        for problem in names.qualified_name(name):
            errors.invalid(here / "name", name, problem)
        if name in seen:
            errors.duplicate(here / "name", name)
        seen.add(name)


def validate_variables(variables: list[dict[str, Any]], path: Path, errors: Errors) -> None:
    """Checks the variables of a policy."""
    for index, variable in enumerate(variables):
        here = path[index]
        name = variable.get("name", "")
        if not name.strip():
            errors.required(here / "name", "name is not specified")
        elif not _IDENTIFIER.match(name) or name in _RESERVED:
            errors.invalid(here / "name", name, "must be a valid CEL identifier")
        expression = variable.get("expression", "")
        validate_expression(expression, here / "expression", errors, "expression is not specified")
