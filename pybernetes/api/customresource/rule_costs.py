"""The rules of a definition when it is made: they compile, and cannot cost too much with the limits of the schema."""

from __future__ import annotations

from typing import Any

from pybernetes.api.cel import values
from pybernetes.api.cel.engine import CelError, Program
from pybernetes.api.cel.estimate import MOST, estimate
from pybernetes.api.cel.values import Declared
from pybernetes.api.customresource.rules import RULES, MessageError, Rule
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

_PER_RULE = 10_000_000
_PER_SCHEMA = 100_000_000
_MOST_BYTES = 3 * 1024 * 1024
_HINT = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings "
    "are declared)"
)
_MOST_NAMED = 4


def check_definition(schema: Object, path: Path, errors: Errors) -> None:
    """Report rules that cannot be compiled, and about those that may cost too much."""
    check = _Check(errors)
    check.visit(schema, schema, path, 1, None, root=True)
    if check.total > _PER_SCHEMA:
        for where, _ in sorted(check.expensive, key=lambda item: -item[1])[:_MOST_NAMED]:
            errors.forbidden(
                where,
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            )
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        errors.forbidden(path, _too_much(name, check.total, _PER_SCHEMA))


class _Check:
    def __init__(self, errors: Errors) -> None:
        self._errors = errors
        self.total = 0
        self.expensive: list[tuple[Path, int]] = []

    def visit(
        self,
        schema: Any,
        seen: Any,
        path: Path,
        count: int | None,
        unrelated: Path | None,
        root: bool = False,
    ) -> None:
        """Go through a schema; ``count`` is how often values of it may be there, None if nobody knows.

        ``unrelated`` is the first schema around this one whose items cannot be told apart between versions.
        """
        if type(schema) is not dict:
            return
        seen = seen if type(seen) is dict else {}
        if schema.get(RULES):
            declared = values.declare(seen, root)
            for index, given in enumerate(schema[RULES]):
                self._rule(given, declared, (path / RULES)[index], count, unrelated)
        inner = count
        if type(seen.get("additionalProperties")) is dict:
            inner = _times(count, seen.get("maxProperties"))
        elif seen.get("type") == "array":
            inner = _times(count, seen.get("maxItems"))
        atomic = seen.get("x-kubernetes-map-type") == "atomic"
        inside = seen.get("properties") or {}
        for name, child in (schema.get("properties") or {}).items():
            around = unrelated or (path if atomic else None)
            self.visit(child, inside.get(name), (path / "properties")[name], inner, around)
        keyed = seen.get("x-kubernetes-list-type") == "map"
        around = unrelated or (None if keyed else path)
        self.visit(schema.get("items"), seen.get("items"), path / "items", inner, around)
        where = path / "additionalProperties"
        self.visit(
            schema.get("additionalProperties"), seen.get("additionalProperties"), where, inner, unrelated
        )
        for index, child in enumerate(schema.get("allOf") or ()):
            self.visit(child, seen, (path / "allOf")[index], count, unrelated, root)

    def _rule(
        self,
        given: Object,
        declared: Declared | None,
        path: Path,
        count: int | None,
        unrelated: Path | None,
    ) -> None:
        errors = self._errors
        try:
            rule = Rule(given, declared)
        except MessageError as error:
            errors.invalid(path / "messageExpression", _shown(given), str(error))
            return
        except CelError as error:
            errors.invalid(path / "rule", _shown(given), str(error))
            return
        assert declared is not None
        times = count if count is not None else _MOST_BYTES // (declared.smallest + 1)
        self._cost(rule.program, declared, times, path / "rule", "estimated rule cost")
        if rule.message is not None:
            self._cost(
                rule.message, declared, 1, path / "messageExpression", "estimated messageExpression cost"
            )
        if rule.uses_old and unrelated is not None:
            text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {unrelated}"
            errors.invalid(path / "rule", given["rule"], text)
        elif not rule.uses_old and "optionalOldSelf" in given:
            text = "may not be set if oldSelf is not used in rule"
            errors.invalid(path / "optionalOldSelf", given["optionalOldSelf"], text)

    def _cost(self, program: Program, declared: Declared, times: int, path: Path, name: str) -> None:
        most = min(MOST, estimate(program.tree, declared.limit).most * times)
        if most > _PER_RULE:
            self._errors.forbidden(path, _too_much(name, most, _PER_RULE))
        self.total = min(MOST, self.total + most)
        if most >= _PER_SCHEMA // 100:
            self.expensive.append((path, most))


def _times(count: int | None, most: int | None) -> int | None:
    return None if count is None or most is None else count * max(0, most)


def _too_much(name: str, most: int, limit: int) -> str:
    factor = most / limit
    if factor > 100:
        text = "more than 100x"
    elif factor < 1.5:
        text = f"{factor:f}x"
    else:
        text = f"{factor:.1f}x"
    return f"{name} exceeds budget by factor of {text} {_HINT}"


def _shown(given: Object) -> Object:
    """Return a rule as Go's encoder shows it."""
    return go_format.Struct(
        Rule=given.get("rule", ""),
        Message=given.get("message", ""),
        MessageExpression=given.get("messageExpression", ""),
        Reason=given.get("reason"),
        FieldPath=given.get("fieldPath", ""),
        OptionalOldSelf=given.get("optionalOldSelf"),
    )
