"""Validation rules (``x-kubernetes-validations``): compiled once with their schema, evaluated on every write.

A rule that looks at ``oldSelf`` is about a change, so it is only asked when there is an old value to compare, or
when it takes ``oldSelf`` as an optional. A value that did not change is not complained about again. All rules of an
object share a budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from pybernetes.api.cel import cost, types, values
from pybernetes.api.cel.engine import CANCELLED, CelError, Environment, Program
from pybernetes.api.cel.runtime import NONE, Optional
from pybernetes.api.cel.values import Declared
from pybernetes.api.customresource.field_path import below
from pybernetes.api.field import OMIT, ROOT, Errors, Path
from pybernetes.api.resource import Object

RULES = "x-kubernetes-validations"
_BLOCKING = (
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
)
_BLOCKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
_OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)
_LONGEST_MESSAGE = 5 * 1024


class MessageError(CelError):
    """The expression for the message cannot be compiled."""


class Rule:
    """One compiled rule of a schema."""

    def __init__(self, given: Object, declared: Declared | None) -> None:
        """Compile the rule; raise CelError if that fails."""
        if declared is None:
            raise CelError("internal error: failed to retrieve type information for x-kubernetes-validations")
        self.given = given
        self.text = (given.get("message") or given["rule"]).strip()
        self.optional = bool(given.get("optionalOldSelf"))
        type_ = declared.type
        old = types.optional_of(type_) if self.optional else type_
        environment = Environment({"self": type_, "oldSelf": old})
        try:
            self.program = environment.compile(given["rule"])
        except CelError as error:
            raise CelError(f"compilation failed: {error}") from None
        if self.program.type.kind != "bool":
            raise CelError("cel expression must evaluate to a bool")
        self.uses_old = "oldSelf" in self.program.uses
        self.message: Program | None = None
        if given.get("messageExpression"):
            self.message = _message(environment, given["messageExpression"])

    def data(self, new: Any, old: Any, has_old: bool) -> dict[str, Any]:
        """Return the variables of the rule."""
        data = {"self": new}
        if self.optional:
            data["oldSelf"] = Optional(old) if has_old else NONE
        elif has_old:
            data["oldSelf"] = old
        return data

    def said(self, data: dict[str, Any], budget: Budget) -> str:
        """Return what to say of a value that breaks the rule."""
        return (
            self._evaluated(data, budget)
            or self.given.get("message", "").strip()
            or f"failed rule: {self.text}"
        )

    def _evaluated(self, data: dict[str, Any], budget: Budget) -> str:
        if self.message is None:
            return ""
        try:
            text, spent = self.message.run(data)
        except CelError:
            return ""
        budget.left -= spent
        text = text.strip() if type(text) is str else ""
        return "" if "\n" in text or "\r" in text or len(text.encode()) > _LONGEST_MESSAGE else text


def _message(environment: Environment, source: str) -> Program:
    try:
        program = environment.compile(source)
    except CelError as error:
        raise MessageError(f"messageExpression compilation failed: {error}") from None
    if program.type.kind != "string":
        raise MessageError("messageExpression must evaluate to a string")
    return program


class Budget:
    """What the rules of one object may cost together."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = cost.BUDGET


class Node:
    """The rules of a schema and of all that is inside of it."""

    __slots__ = ("additional", "alternatives", "declared", "items", "properties", "rules", "schema")

    def __init__(self, schema: Object, seen: Object, root: bool) -> None:
        """Compile the rules of a schema; ``seen`` is the schema that has the types, which is outside of an ``allOf``."""
        self.schema = seen
        self.declared = values.declare(seen, root) if schema.get(RULES) else None
        self.rules = [Rule(given, self.declared) for given in schema.get(RULES, ())]
        inside = seen.get("properties") or {}
        self.properties = {
            name: node
            for name, child in (schema.get("properties") or {}).items()
            if (node := build(child, seen=inside.get(name)))
        }
        self.items = build(schema.get("items"), seen=seen.get("items"))
        self.additional = build(schema.get("additionalProperties"), seen=seen.get("additionalProperties"))
        self.alternatives = [
            node for child in schema.get("allOf") or () if (node := build(child, root, seen))
        ]

    def check(self, new: Any, old: Any, path: Path, errors: Errors, budget: Budget) -> None:
        """Ask every rule; ``old`` is None where there is nothing to compare."""
        if new is None or budget.left < 0:
            return
        if self.rules:
            self._ask(new, old, path, errors, budget)
        for node in self.alternatives:
            node.check(new, old, path, errors, budget)
        if type(new) is dict:
            before = old if type(old) is dict and self.schema.get("x-kubernetes-map-type") != "atomic" else {}
            for key, value in new.items():
                if key in self.properties:
                    self.properties[key].check(value, before.get(key), path / key, errors, budget)
                elif self.additional is not None and key not in (self.schema.get("properties") or {}):
                    self.additional.check(value, before.get(key), path[key], errors, budget)
        elif type(new) is list and self.items is not None:
            for index, value in enumerate(new):
                self.items.check(value, self._old_item(value, old), path[index], errors, budget)

    def _ask(self, new: Any, old: Any, path: Path, errors: Errors, budget: Budget) -> None:
        assert self.declared is not None
        unchanged = old is not None and _text(new) == _text(old)
        seen, kind = self.declared.value(new), self.schema.get("type", "object")
        before = self.declared.value(old) if old is not None else None
        for rule in self.rules:
            if rule.uses_old and old is None and not rule.optional:
                continue
            if unchanged and not rule.uses_old:
                continue
            data = rule.data(seen, before, old is not None)
            try:
                holds, spent = rule.program.run(data)
            except CelError as error:
                errors.invalid(path, kind, _failure(str(error), rule))
                if str(error) == CANCELLED:
                    budget.left = -1
                    return
                continue
            if spent > budget.left:
                budget.left = -1
                errors.invalid(path, kind, _OUT_OF_BUDGET)
                return
            budget.left -= spent
            if holds is not True:
                value = OMIT if kind in ("object", "array") else new
                field = rule.given.get("fieldPath", "").strip()
                where = below(path, field, self.schema) or path
                _complain(where, value, rule.said(data, budget), rule.given.get("reason"), errors)

    def _old_item(self, value: Any, old: Any) -> Any:
        """Return the old item with the same keys: only lists that are maps tell which one it is."""
        if (
            self.schema.get("x-kubernetes-list-type") != "map"
            or type(old) is not list
            or type(value) is not dict
        ):
            return None
        keys = self.schema.get("x-kubernetes-list-map-keys", ())
        wanted = [value.get(key) for key in keys]
        return next((item for item in old if [item.get(key) for key in keys] == wanted), None)


def _text(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _failure(text: str, rule: Rule) -> str:
    if text.startswith("no such overload"):
        end = "call arguments did not match a supported operator, function or macro signature for rule"
        return f"'{text}': {end}: {rule.text}"
    if text.startswith("operation cancelled"):
        end = "no further validation rules will be run due to call cost exceeds limit for rule"
        return f"'{text}': {end}: {rule.text}"
    return f"{text} evaluating rule: {rule.text}"


def _complain(path: Path, value: Any, said: str, reason: str | None, errors: Errors) -> None:
    match reason:
        case "FieldValueForbidden":
            errors.forbidden(path, said)
        case "FieldValueRequired":
            errors.required(path, said)
        case "FieldValueDuplicate":
            errors.duplicate(path, value)
        case _:
            errors.invalid(path, value, said)


def build(schema: Any, root: bool = False, seen: Any = None) -> Node | None:
    """Return the rules of a schema, or None if there are none; raise CelError if one cannot be compiled."""
    if type(schema) is not dict or not any(True for _ in places(schema, ROOT)):
        return None
    return Node(schema, seen if type(seen) is dict else schema, root)


def places(schema: Object, path: Path) -> Iterator[tuple[Object, Path]]:
    """Return every schema with rules, and where it stands."""
    if schema.get(RULES):
        yield schema, path / RULES
    for key, child in (schema.get("properties") or {}).items():
        yield from places(child, (path / "properties")[key])
    for key in ("items", "additionalProperties"):
        if type(schema.get(key)) is dict:
            yield from places(schema[key], path / key)
    for index, child in enumerate(schema.get("allOf") or ()):
        yield from places(child, (path / "allOf")[index])


def validate(node: Node | None, new: Any, old: Any, errors: Errors) -> None:
    """Ask the rules about an object, unless it is already so wrong that the rules could not be evaluated."""
    if node is None:
        return
    if any(error.reason in _BLOCKING for error in errors):
        errors.invalid(ROOT, None, _BLOCKED)
    else:
        node.check(new, old, ROOT, errors, Budget())


__all__ = ["RULES", "CelError", "MessageError", "Node", "Rule", "build", "places", "validate"]
