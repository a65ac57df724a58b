"""Checks of CEL expressions: every expression of the group is checked by ``validate_expression``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pybernetes.api.cel import admission
from pybernetes.api.cel.engine import CelError, Environment
from pybernetes.api.cel.types import DYN, Type
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*\Z")
_RESERVED = frozenset({
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
    "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
})  # fmt: skip
_MOST_CONDITIONS = 64


def validate_expression(
    expression: str,
    path: Path,
    errors: Errors,
    where: Environment,
    returns: Iterable[Type] = (),
    detail: str = "",
) -> None:
    """Check that one expression compiles and gives one of some types."""
    if not expression.strip():
        errors.required(path, detail)
        return
    try:
        admission.compile_expression(expression, where, returns)
    except CelError as error:
        errors.invalid(path, expression, str(error))


def how(spec: Object, patches: bool = False) -> dict[str, Any]:
    """Return what the expressions of a policy see, for ``admission.environment``."""
    return {"params": DYN if "paramKind" in spec else None, "patches": patches}


def validate_match_conditions(conditions: list[Object], path: Path, errors: Errors, **how: Any) -> None:
    """Check the conditions that narrow the requests."""
    where = admission.environment(**how) if conditions else None
    if len(conditions) > _MOST_CONDITIONS:
        errors.too_many(path, len(conditions), _MOST_CONDITIONS)
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        here = path[index]
        assert where is not None
        expression = condition.get("expression", "")
        validate_expression(expression, here / "expression", errors, where, admission.CONDITION)
        name = condition.get("name", "")
        if not name:
            errors.required(here / "name")
            continue
        checks.name(names.qualified_name, name, here / "name", errors)
        if name in seen:
            errors.duplicate(here / "name", name)
        seen.add(name)


def validate_variables(
    variables: list[Object], path: Path, errors: Errors, how: dict[str, Any]
) -> admission.Variables:
    """Check the variables of a policy, and return them for the expressions that use them."""
    known = admission.Variables((), **how)
    for index, variable in enumerate(variables):
        here = path[index]
        name = variable.get("name", "")
        if not name.strip():
            errors.required(here / "name", "name is not specified")
        elif not _IDENTIFIER.match(name) or name in _RESERVED:
            errors.invalid(here / "name", name, "must be a valid CEL identifier")
        expression = variable.get("expression", "")
        variable_type: Type = DYN
        if not expression.strip():
            errors.required(here / "expression", "expression is not specified")
        else:
            try:
                where = admission.environment(**how, variables=known.snapshot())
                variable_type = admission.compile_expression(expression, where).type
            except CelError as error:
                errors.invalid(here / "expression", expression, str(error))
        if name:
            known.add(name, variable_type)
    return known
