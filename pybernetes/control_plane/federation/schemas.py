"""Parts of schemas that the kinds of a federation are made of."""

from __future__ import annotations

from pybernetes.api.resource import Object

STRING: Object = {"type": "string"}
BOOLEAN: Object = {"type": "boolean"}
INTEGER: Object = {"type": "integer", "format": "int64"}
TIME: Object = {"type": "string", "format": "date-time"}
DURATION: Object = {
    "type": "string",
    "maxLength": 64,
    "pattern": r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$",
}
ANYTHING: Object = {"x-kubernetes-preserve-unknown-fields": True}
ENABLED: Object = {"type": "string", "enum": ["Enabled", "Disabled"]}
SCOPE: Object = {"type": "string", "enum": ["Namespaced", "Cluster"]}


def object_(properties: Object, *required: str) -> Object:
    """Return the schema of an object."""
    schema: Object = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def rules(*said: tuple[str, str]) -> Object:
    """Return what a schema has so that the server holds values against expressions, each with a message."""
    return {
        "x-kubernetes-validations": [{"rule": expression, "message": message} for expression, message in said]
    }


def usually(schema: Object, value: object) -> Object:
    """Return a schema whose value the server fills in where an object is silent."""
    return {**schema, "default": value}


def list_(items: Object) -> Object:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def map_(values: Object) -> Object:
    """Return the schema of a map from texts."""
    return {"type": "object", "additionalProperties": values}


def selector() -> Object:
    """Return the schema of a label selector."""
    expression = object_({"key": STRING, "operator": STRING, "values": list_(STRING)}, "key", "operator")
    return object_({"matchExpressions": list_(expression), "matchLabels": map_(STRING)})


def definition(
    group: str, version: str, kind: str, plural: str, schema: Object, *, namespaced: bool = True,
    required: tuple[str, ...] = ("spec",), short: tuple[str, ...] = (), columns: tuple[tuple[str, str, str], ...] = (),
    checks: Object | None = None,
) -> Object:  # fmt: skip
    """Return the definition of a kind with one version; ``columns`` have a name, a type and a path, ``checks`` are rules."""
    meta = {"apiVersion": STRING, "kind": STRING, "metadata": {"type": "object"}}
    served: Object = {
        "name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": {**object_({**meta, **schema}, *required), **(checks or {})}},
    }  # fmt: skip
    if columns:
        served["additionalPrinterColumns"] = [
            {"name": name, "type": type_, "jsonPath": path} for name, type_, path in columns
        ]
    if "status" in schema:
        served["subresources"] = {"status": {}}
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {**names, "shortNames": list(short)} if short else names,
            "versions": [served],
        },
    }
