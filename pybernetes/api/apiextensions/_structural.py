"""Structural schemas: every value has one type, so that pruning and defaulting know what to do.

What stands inside of ``allOf``, ``anyOf``, ``oneOf`` and ``not`` may only narrow values that the schema around
it declares.
"""

from __future__ import annotations

from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text.regular_expressions import PatternError, compile_pattern

_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_NO_TYPE = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
# What a nested schema may not say, and how the error about it ends.
_NESTED = {
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_UNSUPPORTED = (
    "definitions",
    "dependencies",
    "patternProperties",
    "additionalItems",
    "$ref",
    "$schema",
    "id",
)


def one(value: Any) -> Object | None:
    """Return a field that holds a schema, or something else."""
    return value if isinstance(value, dict) else None


def is_convertible(schema: Object) -> bool:
    """Return whether the schema can be structural at all: without the parts of JSON schema that are not supported."""
    if any(schema.get(key) for key in _UNSUPPORTED) or isinstance(schema.get("items"), list):
        return False
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        return False
    return all(is_convertible(child) for child in children(schema))


def children(schema: Object) -> list[Object]:
    """Return the schemas directly inside of a schema."""
    nested = [one(schema.get(key)) for key in ("items", "additionalProperties", "not")]
    for key in ("allOf", "anyOf", "oneOf"):
        nested += schema.get(key, [])
    nested += schema.get("properties", {}).values()
    return [child for child in nested if child is not None]


def validate_structural(schema: Object, path: Path, errors: Errors) -> None:
    """Check that a schema is structural; errors are in the order of their texts."""
    structural_errors = Errors()
    _invariants(schema, "root", path, structural_errors)
    _complete(schema, schema, path, path, structural_errors)
    errors.extend(sorted(structural_errors, key=str))


def _invariants(schema: Object, level: str, path: Path, errors: Errors) -> None:
    kind, properties = schema.get("type", ""), schema.get("properties", {})
    items, additional = one(schema.get("items")), schema.get("additionalProperties")
    embedded = schema.get("x-kubernetes-embedded-resource", False)
    preserve = schema.get("x-kubernetes-preserve-unknown-fields", False)
    if kind == "array" and items is None:
        errors.required(path / "items", "must be specified")
    if items is not None:
        _invariants(items, "item", path / "items", errors)
    for name, child in properties.items():
        _invariants(child, "field", (path / "properties")[name], errors)
    if additional is not None:
        if level == "root":
            errors.forbidden(path / "additionalProperties", "must not be used at the root")
        if isinstance(additional, dict):
            _invariants(additional, "field", path / "additionalProperties", errors)
        if embedded:
            text = "must not be used if x-kubernetes-embedded-resource is set"
            errors.forbidden(path / "additionalProperties", text)
    if schema.get("x-kubernetes-int-or-string"):
        for key in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
            if schema.get(key):
                errors.invalid(path / key, True, "must be false if x-kubernetes-int-or-string is true")
    _values(schema, schema.get("anyOf") == _INT_OR_STRING, _starts_int_or_string(schema), path, errors)
    if embedded and kind != "object":
        text = "must be object if x-kubernetes-embedded-resource is true"
        errors.invalid(path / "type", kind, text) if kind else errors.required(path / "type", text)
    elif not kind and not schema.get("x-kubernetes-int-or-string") and not preserve:
        errors.required(path / "type", _NO_TYPE[level])
    if level == "root" and kind and kind != "object":
        errors.invalid(path / "type", kind, "must be object at the root")
    _metadata(properties, level == "root", level == "root" or embedded, path / "properties", errors)
    if embedded and not preserve and not properties:
        text = (
            "must not be empty if x-kubernetes-embedded-resource is true "
            "without x-kubernetes-preserve-unknown-fields"
        )
        errors.required(path / "properties", text)


def _metadata(properties: dict[str, Object], root: bool, whole: bool, path: Path, errors: Errors) -> None:
    """Check the fields that every object has, of a schema that stands for a whole object."""
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if whole and name in properties and properties[name].get("type", "") != wanted:
            errors.invalid(path[name] / "type", properties[name].get("type", ""), f"must be {wanted}")
    if root and "metadata" in properties:
        said = {key: value for key, value in properties["metadata"].items() if key not in ("type", "default")}
        if set(said.get("properties", {})) <= {"name", "generateName"}:
            said.pop("properties", None)
        if any(said.values()):
            text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            errors.forbidden(path["metadata"], text)


def _starts_int_or_string(schema: Object) -> bool:
    first = schema.get("allOf", [{}])[0] if schema.get("allOf") else {}
    return first.get("anyOf") == _INT_OR_STRING


def _values(schema: Object, skip_any: bool, skip_first: bool, path: Path, errors: Errors) -> None:
    """Check what narrows the values of a schema."""
    for key in ("anyOf", "allOf", "oneOf"):
        if key == "anyOf" and skip_any:
            continue
        for index, child in enumerate(schema.get(key, ())):
            _nested(child, key == "allOf" and skip_first and index == 0, (path / key)[index], errors)
    if "not" in schema:
        _nested(schema["not"], False, path / "not", errors)
    if schema.get("pattern"):
        try:
            compile_pattern(schema["pattern"])
        except PatternError as error:
            text = f"must be a valid regular expression, but isn't: {error}"
            errors.invalid(path / "pattern", schema["pattern"], text)


def _nested(schema: Object, skip_any: bool, path: Path, errors: Errors) -> None:
    _values(schema, skip_any, False, path, errors)
    items, properties = one(schema.get("items")), schema.get("properties", {})
    if items is not None:
        _nested(items, False, path / "items", errors)
    for name, child in properties.items():
        _nested(child, False, (path / "properties")[name], errors)
    if schema.get("type"):
        errors.forbidden(path / "type", "must be empty to be structural")
    if schema.get("additionalProperties") is not None:
        errors.forbidden(path / "additionalProperties", "must be undefined to be structural")
    for key, text in _NESTED.items():
        if schema.get(key) or (key == "default" and schema.get(key) is not None):
            errors.forbidden(path / key, text)
    if "metadata" in properties:
        errors.forbidden((path / "properties")["metadata"], "must not be specified in a nested context")


def _complete(nested: Object, schema: Object, path: Path, where: Path, errors: Errors) -> None:
    """Check that what a nested schema narrows is declared by the schema around it."""
    if "not" in nested:
        _complete_nested(nested["not"], schema, path, where / "not", errors)
    for key in ("allOf", "anyOf", "oneOf"):
        for index, child in enumerate(nested.get(key, ())):
            _complete_nested(child, schema, path, (where / key)[index], errors)


def _complete_nested(nested: Object, schema: Object, path: Path, where: Path, errors: Errors) -> None:
    _complete(nested, schema, path, where, errors)
    items, around = one(nested.get("items")), one(schema.get("items"))
    if items is not None:
        if around is None:
            errors.required(path / "items", f"because it is defined in {where / 'items'}")
        else:
            _complete_nested(items, around, path / "items", where / "items", errors)
    for name, child in nested.get("properties", {}).items():
        here, there = (path / "properties")[name], (where / "properties")[name]
        if name not in schema.get("properties", {}):
            errors.required(here, f"because it is defined in {there}")
        else:
            _complete_nested(child, schema["properties"][name], here, there, errors)


def at(path: str, schema: Object) -> Object | None:
    """Return the schema of the field at a path such as ``.spec.replicas``, or None if there is none."""
    node: Object | None = schema
    for part in path[1:].split("."):
        node = node.get("properties", {}).get(part) if node else None
    return node if path.startswith(".") else None
