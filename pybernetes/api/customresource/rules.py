"""Validation rules (``x-kubernetes-validations``): compiled once with their schema, evaluated on every write.

A rule that looks at ``oldSelf`` is about a change, so it is only asked when there is an old value to compare, or
when it takes ``oldSelf`` as an optional. A value that did not change is not complained about again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from pybernetes.api.cel import values
from pybernetes.api.cel.engine import CelError, Program
from pybernetes.api.customresource.types import Schema
from pybernetes.api.field import OMIT, ROOT, Errors, Path

RULES = "x-kubernetes-validations"
_BLOCKING = ("FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid")
_BLOCKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
_LONGEST_MESSAGE = 10240
_NAMES_OLD = re.compile(r"undeclared reference to 'oldSelf[.']")


class Rule:
    """One compiled rule of a schema."""

    def __init__(self, given: dict[str, Any], signature: str) -> None:
        """Compiles; CelError if that fails."""
        self.given = given
        self.text = (given.get("message") or given["rule"]).strip()
        self.optional = bool(given.get("optionalOldSelf"))
        self._signature = signature
        self._program, self.uses_old = self._compile(given["rule"])
        if self._program.returns not in ("BOOL", "DYN", "bool", "dyn"):
            raise CelError("cel expression must evaluate to a bool")
        message = given.get("messageExpression")
        self._message = self._compile(message)[0] if message else None

    def _compile(self, source: str) -> tuple[Program, bool]:
        """The program, and whether it looks at the old value."""
        variables = {"self": self._signature}
        try:
            return Program(source, variables), False
        except CelError as error:
            if not _NAMES_OLD.search(str(error)):
                raise
        if self.optional:
            source = f"cel.bind(oldSelf, hasOld ? optional.of(oldValue) : optional.none(), {source}\n)"
            return Program(source, {**variables, "oldValue": self._signature, "hasOld": "bool"}), True
        return Program(source, {**variables, "oldSelf": self._signature}), True

    def check(self, new: Any, old: Any, has_old: bool) -> str | None:
        """What to say of a value that breaks the rule, or None; CelError if the rule fails."""
        data = {"self": new}
        if self.optional:
            data |= {"oldValue": old if has_old else new, "hasOld": has_old}
        elif has_old:
            data["oldSelf"] = old
        if self._program.evaluate(data) is True:
            return None
        return self._said(data) or self.given.get("message", "").strip() or f"failed rule: {self.text}"

    def _said(self, data: dict[str, Any]) -> str:
        if self._message is None:
            return ""
        try:
            text = self._message.evaluate(data)
        except CelError:
            return ""
        text = text.strip() if type(text) is str else ""
        return "" if "\n" in text or "\r" in text or len(text.encode()) > _LONGEST_MESSAGE else text


class Node:
    """The rules of a schema and of all that is inside of it."""

    __slots__ = ("additional", "alternatives", "items", "properties", "rules", "schema")

    def __init__(self, schema: Schema, seen: Schema) -> None:
        """``seen`` is the schema as rules see it: that of a whole object has the head of every object."""
        self.schema = seen
        self.rules = [Rule(given, values.type_of(seen)) for given in schema.get(RULES, ())]
        self.properties = {
            name: node for name, child in (schema.get("properties") or {}).items() if (node := build(child))
        }
        self.items = build(schema.get("items"))
        self.additional = build(schema.get("additionalProperties"))
        self.alternatives = [node for child in schema.get("allOf") or () if (node := build(child))]

    def check(self, new: Any, old: Any, path: Path, errors: Errors) -> None:
        """Asks every rule; ``old`` is None where there is nothing to compare."""
        if new is None:
            return
        if self.rules:
            self._ask(new, old, path, errors)
        for node in self.alternatives:
            node.check(new, old, path, errors)
        if type(new) is dict:
            before = old if type(old) is dict and self.schema.get("x-kubernetes-map-type") != "atomic" else {}
            for key, value in new.items():
                if key in self.properties:
                    self.properties[key].check(value, before.get(key), path / key, errors)
                elif self.additional is not None and key not in (self.schema.get("properties") or {}):
                    self.additional.check(value, before.get(key), path[key], errors)
        elif type(new) is list and self.items is not None:
            for index, value in enumerate(new):
                self.items.check(value, self._old_item(value, old), path[index], errors)

    def _ask(self, new: Any, old: Any, path: Path, errors: Errors) -> None:
        unchanged = old is not None and _text(new) == _text(old)
        seen, kind = values.convert(new, self.schema), self.schema.get("type", "")
        before = values.convert(old, self.schema) if old is not None else None
        for rule in self.rules:
            if rule.uses_old and old is None and not rule.optional:
                continue
            if unchanged and not rule.uses_old:
                continue
            try:
                said = rule.check(seen, before, old is not None)
            except CelError as error:
                errors.invalid(path, kind, _failure(str(error), rule))
                continue
            if said is not None:
                _complain(path, OMIT if kind in ("object", "array") else new, said, rule.given, errors)

    def _old_item(self, value: Any, old: Any) -> Any:
        """The old item with the same keys: only lists that are maps tell which one it is."""
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


def _complain(path: Path, value: Any, said: str, given: dict[str, Any], errors: Errors) -> None:
    field = given.get("fieldPath", "").strip()
    if field:
        path = path / field.removeprefix(".")
    match given.get("reason"):
        case "FieldValueForbidden":
            errors.forbidden(path, said)
        case "FieldValueRequired":
            errors.required(path, said)
        case "FieldValueDuplicate":
            errors.duplicate(path, value)
        case _:
            errors.invalid(path, value, said)


def build(schema: Any, root: bool = False) -> Node | None:
    """The rules of a schema, or None if there are none; CelError if one cannot be compiled."""
    if type(schema) is not dict or not any(True for _ in places(schema, ROOT)):
        return None
    return Node(schema, values.with_head(schema) if root else schema)


def places(schema: Schema, path: Path) -> Iterator[tuple[Schema, Path]]:
    """Every schema with rules, and where it stands."""
    if schema.get(RULES):
        yield schema, path / RULES
    for key, child in (schema.get("properties") or {}).items():
        yield from places(child, (path / "properties")[key])
    for key in ("items", "additionalProperties"):
        if type(schema.get(key)) is dict:
            yield from places(schema[key], path / key)
    for index, child in enumerate(schema.get("allOf") or ()):
        yield from places(child, (path / "allOf")[index])


def check_definition(schema: Schema, path: Path, errors: Errors) -> None:
    """Complains about the rules of a definition that cannot be compiled."""
    for found, where in places(schema, path):
        seen = values.with_head(found) if found is schema else found
        for index, given in enumerate(found[RULES]):
            try:
                Rule(given, values.type_of(seen))
            except CelError as error:
                errors.invalid(where[index] / "rule", given.get("rule", ""), f"compilation failed: {error}")


def validate(node: Node | None, new: Any, old: Any, errors: Errors) -> None:
    """Asks the rules about an object, unless it is so wrong already that they would stumble."""
    if node is None:
        return
    if any(error.reason in _BLOCKING for error in errors):
        errors.invalid(ROOT, None, _BLOCKED)
    else:
        node.check(new, old, ROOT, errors)


__all__ = ["CelError", "Node", "build", "check_definition", "places", "validate"]
