"""The type of a structural schema, for managed fields and server-side apply."""

from __future__ import annotations

from pybernetes.api.apply.created_fields import DEDUCED
from pybernetes.api.resource import Object
from pybernetes.api.schema import Type, named

META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
META_FIELDS = ("apiVersion", "kind", "metadata")
PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"
_SCALARS = ("string", "integer", "number", "boolean")


def root(schema: Object) -> Type:
    """Return the type of a whole object."""
    return _struct({**schema, EMBEDDED: True})


def of(schema: Object) -> Type:
    """Return the type of a value."""
    kind = schema.get("type", "")
    if schema.get(INT_OR_STRING):
        result = Type("int-or-string")
    elif kind == "array":
        result = _list(schema)
    elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        result = Type("map")
        result.item = of(schema["additionalProperties"])
    elif kind == "object":
        if not schema.get("properties") and (schema.get(PRESERVE) or "additionalProperties" in schema):
            if schema.get("x-kubernetes-map-type") != "atomic" and not schema.get(EMBEDDED):
                return DEDUCED
        result = _struct(schema)
    elif kind in _SCALARS:
        result = Type(kind)
        result.format = schema.get("format", "")
    else:
        return DEDUCED
    result.atomic = result.atomic or schema.get("x-kubernetes-map-type") == "atomic"
    result.default = schema.get("default")
    return result


def _struct(schema: Object) -> Type:
    result = Type("struct")
    result.required = frozenset(schema.get("required", ()))
    fields = {name: of(child) for name, child in schema.get("properties", {}).items()}
    if schema.get(EMBEDDED):
        fields |= {"apiVersion": Type("string"), "kind": Type("string"), "metadata": named(META)}
    result.resolve = lambda: fields
    if schema.get(PRESERVE):
        result.item = DEDUCED
    return result


def _list(schema: Object) -> Type:
    result = Type("list")
    items = schema.get("items")
    result.item = of(items) if isinstance(items, dict) else DEDUCED
    result.list_type = schema.get("x-kubernetes-list-type", "atomic")
    result.keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
    result.atomic = result.list_type == "atomic"
    return result
