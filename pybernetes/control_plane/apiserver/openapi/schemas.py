"""Definitions as OpenAPI wants them, made from the JSON schemas of the schema package.

The package holds the definitions that Kubernetes publishes, turned into JSON schema: a type may be null,
references point into ``$defs``, and the two types that JSON has no name for became alternatives. Here that is
undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pybernetes.api.schema import facts, load

Schema = dict[str, Any]


class Kind(NamedTuple):
    """Group, version and kind."""

    group: str
    version: str
    kind: str


V2, V3 = "#/definitions/", "#/components/schemas/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
META = {
    name: _META + name
    for name in ("APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "DeleteOptions", "ListMeta",
                 "ObjectMeta", "Patch", "Status", "WatchEvent")
}  # fmt: skip
VERSION_INFO = "io.k8s.apimachinery.pkg.version.Info"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_TEXTS = {
    _INT_OR_STRING: "A number or a string. A port, for example, can be given by its number or by its name.",
    _QUANTITY: (
        "A number with an optional suffix: m for thousandths, k, M, G, T, P, E for powers of 1000 and Ki, Mi, Gi, "
        "Ti, Pi, Ei for powers of 1024. It can have at most three decimal places. Examples: 100m, 1.5, 512Mi."
    ),
}
_ALTERNATIVES: dict[str, dict[str, Schema]] = {
    V2: {_INT_OR_STRING: {"type": "string", "format": "int-or-string"}, _QUANTITY: {"type": "string"}},
    V3: {
        _INT_OR_STRING: {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
        _QUANTITY: {"oneOf": [{"type": "string"}, {"type": "number"}]},
    },
}
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
# What a custom resource's schema may say that version 2 has no words for.
_ONLY_V3 = ("oneOf", "anyOf", "allOf", "not", "nullable", "default", "x-kubernetes-validations")


def kinds(definitions: Mapping[str, Schema]) -> dict[Kind, str]:
    """Return the definition of every kind that has one of its own."""
    names = {}
    for name, node in definitions.items():
        named = node.get("x-kubernetes-group-version-kind", ())
        if len(named) == 1:
            names[Kind(named[0]["group"], named[0]["version"], named[0]["kind"])] = name
    return names


def convert(name: str, node: Schema, prefix: str) -> Schema:
    """Return a definition of the schema package for one version of OpenAPI, named by its reference prefix."""
    if name in _TEXTS:
        return {"description": _TEXTS[name], **_ALTERNATIVES[prefix][name]}
    schema = _convert(node, prefix)
    if "x-kubernetes-group-version-kind" in node and "properties" in schema:
        # The package allows one value each; for OpenAPI these are strings like any other.
        for field in ("apiVersion", "kind"):
            schema["properties"].get(field, {}).pop("enum", None)
    for field, values in facts.enums().get(name, {}).items():
        place = schema["properties"][field.rstrip("[]{}")]
        if field.endswith("[]"):
            place = place["items"]
        elif field.endswith("{}"):
            place = place["additionalProperties"]
        place["enum"] = values
    return schema


def _convert(node: Schema, prefix: str) -> Schema:
    schema: Schema = {}
    for key, value in node.items():
        if key == "type" and type(value) is list:
            value = value[0] if value[0] != "null" else value[1]
        elif key == "properties":
            value = {name: _convert(child, prefix) for name, child in value.items()}
        elif key in ("items", "additionalProperties") and type(value) is dict:
            value = _convert(value, prefix)
        schema[key] = value
    reference = schema.get("$ref")
    if reference:
        schema["$ref"] = prefix + reference.rpartition("/")[2]
        if prefix == V3 and len(schema) > 1:
            schema["allOf"] = [{"$ref": schema.pop("$ref")}]  # version 3 ignores what stands beside a $ref
    return schema


def references(schema: Any) -> set[str]:
    """Return the names of the definitions to which a schema refers."""
    names: set[str] = set()
    pending = [schema]
    while pending:
        node = pending.pop()
        if type(node) is dict:
            for key, value in node.items():
                if key == "$ref" and type(value) is str:
                    names.add(value.rpartition("/")[2])
                elif type(value) in (dict, list):
                    pending.append(value)
        elif type(node) is list:
            pending.extend(node)
    return names


def custom_name(kind: Kind) -> str:
    """Return the name of a custom kind's definition: its group turned around, version and kind."""
    return ".".join([*reversed(kind.group.split(".")), kind.version, kind.kind])


def custom(kind: Kind, list_kind: str, schema: Schema | None, prefix: str) -> dict[str, Schema]:
    """Return the definitions of a custom kind and of its list."""
    body = dict(schema or {"type": "object", _PRESERVE: True})
    # kubectl takes an object of version 2 that has properties for one that has no others.
    is_free = prefix == V2 and bool(body.get(_PRESERVE))
    if prefix == V2:
        body = _simplify(body) if not is_free else {}
    meta = load.definitions()["io.k8s.api.core.v1.Pod"]["properties"]["metadata"]["description"]
    texts = load.definitions()[META["Status"]]["properties"]
    own = {
        field: {"type": "string", "description": texts[field]["description"]}
        for field in ("apiVersion", "kind")
    }
    body["type"] = "object"
    if not is_free:
        body["properties"] = {
            **body.get("properties", {}),
            **own,
            "metadata": _convert({"description": meta, "$ref": META["ObjectMeta"]}, prefix),
        }
    body["x-kubernetes-group-version-kind"] = [kind._asdict()]
    name = custom_name(kind)
    listed = {
        "description": f"{list_kind} is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **own,
            "items": {
                "description": f"List of {kind.kind}.",
                "type": "array",
                "items": {"$ref": prefix + name},
            },
            "metadata": _convert({"description": "Metadata of the list.", "$ref": META["ListMeta"]}, prefix),
        },
        "x-kubernetes-group-version-kind": [kind._replace(kind=list_kind)._asdict()],
    }
    return {name: body, custom_name(kind._replace(kind=list_kind)): listed}


def _simplify(schema: Schema) -> Schema:
    """Return a structural schema in the words of version 2, as far as it has them and kubectl can cope with them."""
    simple = {key: value for key, value in schema.items() if key not in _ONLY_V3}
    if schema.get("nullable") or simple.get("x-kubernetes-int-or-string"):
        # Clients of version 2 would refuse nulls; without a type they let them pass.
        simple.pop("type", None)
    if schema.get("nullable") or simple.get(_PRESERVE):
        simple.pop("items", None)
        simple.pop("properties", None)
    if simple.get("type") == "array" and "items" not in simple:
        del simple["type"]
    if simple.get("type") == "object" and simple.get(_PRESERVE):
        del simple["type"]
    if "properties" in simple:
        nullable = {name for name, child in simple["properties"].items() if child.get("nullable")}
        if nullable & {*simple.get("required", ())}:
            simple["required"] = [name for name in simple["required"] if name not in nullable]
        simple["properties"] = {name: _simplify(child) for name, child in simple["properties"].items()}
    for key in ("items", "additionalProperties"):
        if type(simple.get(key)) is dict:
            simple[key] = _simplify(simple[key])
    return simple
