"""Checks of the OpenAPI schema of a custom resource: what of JSON schema is supported."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api import schema as types
from pybernetes.api.apiextensions._structural import is_convertible, one, validate_structural
from pybernetes.api.customresource.field_path import below
from pybernetes.api.field import ROOT, Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_PROPS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_NOT_SUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_META = ("metadata", "kind", "apiVersion")
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_ATOMIC = "must be atomic as item of a list with x-kubernetes-list-type=set"


class Place(NamedTuple):
    """Where a schema stands: why it may not have defaults, and whether it is inside of metadata."""

    no_defaults: str = ""
    metadata: bool = False


def clean(schema: Object) -> None:
    """Give the untyped parts of a schema, which can hold more than one thing, the form of schemas."""
    for key in ("items", "additionalProperties", "additionalItems", "not"):
        child = one(schema.get(key))
        if child is not None:
            try:
                schema[key] = types.Decoder().decode(types.named(_PROPS), child)
            except types.DecodeError:
                schema[key] = {}
            clean(schema[key])
    for key in ("properties", "definitions", "patternProperties"):
        for child in schema.get(key, {}).values():
            clean(child)
    for key in ("allOf", "anyOf", "oneOf"):
        for child in schema.get(key, ()):
            clean(child)


def validate_schema(schema: Object, status: bool, path: Path, errors: Errors) -> None:
    """Check the schema of a whole custom resource; ``status`` tells whether it has that subresource."""
    path = path / "openAPIV3Schema"
    if status:
        _root_with_status(schema, path, errors)
    if schema.get("nullable"):
        errors.forbidden(path / "nullable", "nullable cannot be true at the root")
    if is_convertible(schema):
        validate_structural(schema, path, errors)
    _validate(schema, True, Place(), path, errors)


_AT_ROOT = {
    "description": "Description", "type": "Type", "format": "Format", "title": "Title", "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum", "minimum": "Minimum", "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength", "minLength": "MinLength", "pattern": "Pattern", "maxItems": "MaxItems",
    "minItems": "MinItems", "uniqueItems": "UniqueItems", "multipleOf": "MultipleOf", "required": "Required",
    "items": "Items", "properties": "Properties", "externalDocs": "ExternalDocs", "example": "Example",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields",
    "x-kubernetes-validations": "XValidations",
}  # fmt: skip


def _root_with_status(schema: Object, path: Path, errors: Errors) -> None:
    end = "at the root of the schema if the status subresource is enabled"
    if schema.get("type", "object") != "object":
        errors.invalid(path / "type", schema["type"], f'only "object" is allowed as the type {end}')
    elif any(value and key not in _AT_ROOT for key, value in schema.items()):
        errors.invalid(path, schema, f"only [{' '.join(_AT_ROOT.values())}] fields are allowed {end}")


def _validate(schema: Object, root: bool, place: Place, path: Path, errors: Errors) -> None:
    _standard(schema, place, path, errors)
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.forbidden(path / "uniqueItems", text)
    additional, properties = schema.get("additionalProperties"), schema.get("properties", {})
    if additional is not None:
        if properties and additional is not True:
            text = "additionalProperties and properties are mutual exclusive"
            errors.forbidden(path / "additionalProperties", text)
        if isinstance(additional, dict):
            inner = place
            if place.metadata:
                inner = place._replace(no_defaults="inside additionalProperties applying to object metadata")
            _validate(additional, False, inner, path / "additionalProperties", errors)
    for name, child in properties.items():
        inner = place
        if (root or schema.get("x-kubernetes-embedded-resource")) and name in _META:
            inner = Place(f"in top-level {name}" if root else place.no_defaults, True)
        _validate(child, False, inner, (path / "properties")[name], errors)
    if "not" in schema:
        _validate(schema["not"], False, place, path / "not", errors)
    for key in ("allOf", "oneOf", "anyOf"):
        for index, child in enumerate(schema.get(key, ())):
            _validate(child, False, place, (path / key)[index], errors)
    items = one(schema.get("items"))
    if items is not None:
        _validate(items, False, place, path / "items", errors)
    _extensions(schema, items, path, errors)
    for index, rule in enumerate(schema.get("x-kubernetes-validations", ())):
        _rule(rule, schema, (path / "x-kubernetes-validations")[index], errors)


def _standard(schema: Object, place: Place, path: Path, errors: Errors) -> None:
    kind = schema.get("type", "")
    if kind and kind not in _TYPES:
        errors.unsupported(path / "type", kind, _TYPES)
    if schema.get("default") is not None and place.no_defaults:
        errors.forbidden(path / "default", f"must not be set {place.no_defaults}")
    for key in _NOT_SUPPORTED:
        if schema.get(key):
            errors.forbidden(path / key, f"{key} is not supported")
    if kind == "null":
        errors.forbidden(path / "type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(schema.get("items"), list):
        errors.forbidden(path / "items", "items must be a schema object and not an array")
    if place.metadata and schema.get("x-kubernetes-embedded-resource"):
        errors.forbidden(path / "x-kubernetes-embedded-resource", "must not be used inside of resource meta")


def _must_be(schema: Object, kind: str, reason: str, path: Path, errors: Errors) -> bool:
    """Return whether the schema has the type that one of its extensions asks for."""
    given = schema.get("type", "")
    if given == kind:
        return True
    text = f"must be {kind} if {reason} is specified"
    errors.invalid(path / "type", given, text) if given else errors.required(path / "type", text)
    return False


def _extensions(schema: Object, items: Object | None, path: Path, errors: Errors) -> None:
    preserve, map_type = "x-kubernetes-preserve-unknown-fields", schema.get("x-kubernetes-map-type")
    list_type, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys", [])
    if schema.get(preserve) is False:
        errors.invalid(path / preserve, False, "must be true or undefined")
    if map_type is not None:
        _must_be(schema, "object", "x-kubernetes-map-type", path, errors)
        if map_type not in ("atomic", "granular"):
            errors.unsupported(path / "x-kubernetes-map-type", map_type, ("atomic", "granular"))
    where = path / "x-kubernetes-list-type"
    if list_type is not None:
        fits = _must_be(schema, "array", "x-kubernetes-list-type", path, errors)
        if fits and list_type == "set" and items is not None:
            inner = items.get("x-kubernetes-list-type")
            if items.get("type") == "array" and inner not in (None, "atomic"):
                errors.invalid(path / "items" / "x-kubernetes-list-type", inner, _ATOMIC)
            if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
                errors.invalid(path / "items" / "x-kubernetes-map-type", inner, _ATOMIC)
        if list_type not in ("atomic", "set", "map"):
            errors.unsupported(where, list_type, ("atomic", "set", "map"))
    if keys and list_type != "map":
        text = "must be map if x-kubernetes-list-map-keys is non-empty"
        errors.required(where, text) if list_type is None else errors.invalid(where, list_type, text)
    if list_type == "map":
        _list_map(schema, keys, items, path, errors)
    if list_type in ("set", "map") and items is not None:
        _keyed_items(items, list_type, keys, path / "items", errors)


def _list_map(schema: Object, keys: list[str], items: Object | None, path: Path, errors: Errors) -> None:
    where = path / "x-kubernetes-list-map-keys"
    if not keys:
        errors.required(where, "must not be empty if x-kubernetes-list-type is map")
    if schema.get("items") is None:
        errors.required(path / "items", "must have a schema if x-kubernetes-list-type is map")
    elif items is None:
        text = "must only have a single schema if x-kubernetes-list-type is map"
        errors.invalid(path / "items", schema["items"], text)
    elif items.get("type", "") != "object":
        text = "must be object if parent array's x-kubernetes-list-type is map"
        errors.invalid(path / "items" / "type", items.get("type", ""), text)
    else:
        repeated = set(checks.repetitions(keys))
        for index, key in enumerate(keys):
            if key not in items.get("properties", {}):
                errors.invalid(where, keys, "entries must all be names of item properties")
            elif items["properties"][key].get("type") in ("array", "object"):
                text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
                errors.invalid((path / "items" / "properties")[key] / "type", items["type"], text)
            if index in repeated:
                errors.invalid(where, keys, "must not contain duplicate entries")


def _keyed_items(items: Object, list_type: str, keys: list[str], path: Path, errors: Errors) -> None:
    if items.get("nullable"):
        errors.forbidden(path / "nullable", f"cannot be nullable when x-kubernetes-list-type is {list_type}")
    said = "this property is in x-kubernetes-list-map-keys, so it "
    for key in keys if list_type == "map" else ():
        child = items.get("properties", {}).get(key)
        if child is None:
            continue
        here = (path / "properties")[key]
        if key not in items.get("required", ()) and child.get("default") is None:
            errors.required(here / "default", said + "must have a default or be a required property")
        if child.get("nullable"):
            errors.forbidden(here / "nullable", said + "cannot be nullable")


def _rule(rule: Object, schema: Object, path: Path, errors: Errors) -> None:
    """Check the form of a rule; what its expression says is not looked at here."""
    text, message = rule.get("rule", "").strip(), rule.get("message", "")
    if not text:
        errors.required(path / "rule", "rule is not specified")
    elif message and not message.strip():
        errors.invalid(path / "message", message, "must be non-empty if specified")
    elif _breaks(message.strip()):
        errors.invalid(path / "message", message, "must not contain line breaks")
    elif _breaks(text) and not message.strip():
        errors.required(path / "message", "message must be specified if rule contains line breaks")
    expression, field = rule.get("messageExpression", ""), rule.get("fieldPath", "")
    if expression and not expression.strip():
        errors.required(path / "messageExpression", "messageExpression must be non-empty if specified")
    if "reason" in rule and rule["reason"] not in _REASONS:
        errors.unsupported(path / "reason", rule["reason"], _REASONS)
    if field and not field.strip():
        errors.invalid(path / "fieldPath", field, "must be non-empty if specified")
    if _breaks(field):
        errors.invalid(path / "fieldPath", field, "must not contain line breaks")
    if field and below(ROOT, field, schema) is None:
        errors.invalid(path / "fieldPath", field, "must be a valid path")


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
