"""The defaults of a definition when it is made: each has to be right for the schema that it stands in."""

from __future__ import annotations

import copy
from typing import Any

from pybernetes.api.customresource import embedded, prune, rules, validate
from pybernetes.api.customresource.types import EMBEDDED
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.schema.places import Place


def check_defaults(schema: Any, path: Path, errors: Errors, *, root: bool = False) -> None:
    """Report defaults that no object could have; there are none below ``additionalProperties``."""
    if type(schema) is not dict:
        return
    if schema.get("default") is not None:
        embedded.check(
            {**schema, EMBEDDED: True} if root else schema, schema["default"], path / "default", errors
        )
        _check(schema, path / "default", errors)
    check_defaults(schema.get("items"), path / "items", errors)
    for name, child in (schema.get("properties") or {}).items():
        check_defaults(child, (path / "properties")[name], errors)


def _check(schema: Object, path: Path, errors: Errors) -> None:
    value = schema["default"]
    unknown: list[Place] = []
    prune.prune(schema, copy.deepcopy(value), None, unknown)
    if unknown:
        errors.invalid(path, value, "must not have unknown fields")
    default_errors = Errors()
    validate.check(schema, value, default_errors)
    for problem in default_errors:
        below = "" if problem.field == "<nil>" else f".{problem.field}".replace(".[", "[")
        problem.field = str(path) + below
    errors.extend(default_errors)
    if default_errors:
        return
    start = len(errors)
    node = rules.build(schema)
    if node is not None:
        # Once as a value that stays, for rules about changes, and once as a new one.
        node.check(value, value, path, errors, rules.Budget())
        if len(errors) == start:
            node.check(value, None, path, errors, rules.Budget())
