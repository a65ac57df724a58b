"""The definition of Federated<Kind>, made from the schema of the kind that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.schemas import (
    ANYTHING,
    BOOLEAN,
    INTEGER,
    STRING,
    TIME,
    definition,
    list_,
    object_,
    selector,
)
from pybernetes.control_plane.federation.type_config import TypeConfig

# How deep a template is checked: its fields, and the fields in those. What is below is the members' to check.
_LEVELS = 2
_KEPT = ("type", "format", "enum", "x-kubernetes-int-or-string")
_TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean"})
_SERVERS = ("status", "apiVersion", "kind")  # what a template has no say in, or need not say
Resolve = Callable[[str], Object]

_OPERATION = object_(
    {"op": {"type": "string", "pattern": "^(add|remove|replace)?$"}, "path": STRING, "value": ANYTHING},
    "path",
)
_SPEC: Object = {
    "placement": object_(
        {"clusters": list_(object_({"name": STRING}, "name")), "clusterSelector": selector()}
    ),
    "overrides": list_(
        object_({"clusterName": STRING, "clusterOverrides": list_(_OPERATION)}, "clusterName")
    ),
    "rollout": object_({"maxClusters": {"x-kubernetes-int-or-string": True}}),
}
_STATUS = object_(
    {
        "observedGeneration": INTEGER,
        "conditions": list_(
            object_(
                {
                    "type": STRING,
                    "status": STRING,
                    "reason": STRING,
                    "lastUpdateTime": TIME,
                    "lastTransitionTime": TIME,
                },
                "type", "status",
            )
        ),
        "clusters": list_(
            object_({"name": STRING, "status": STRING, "remoteStatus": {"type": "object", **ANYTHING}}, "name")
        ),
    }
)  # fmt: skip
_COLUMNS = (
    ("propagated", "string", ".status.conditions[?(@.type=='Propagation')].status"),
    ("reason", "string", ".status.conditions[?(@.type=='Propagation')].reason"),
    ("age", "date", ".metadata.creationTimestamp"),
)


def federated_definition(
    config: TypeConfig, target: Object, resolve: Resolve, short: Sequence[str] = ()
) -> Object:
    """Return the definition of a federated kind; ``target`` is the schema of what it stands for, with references."""
    fields = target.get("properties") or {}
    spec = {**_SPEC, "template": template_schema(fields, resolve)}
    if is_scalable(fields, resolve):
        spec["retainReplicas"] = BOOLEAN
    federated = config.federated
    return definition(
        federated.group, federated.version, federated.kind, federated.plural, {"spec": object_(spec), "status": _STATUS},
        namespaced=federated.namespaced, short=tuple(f"f{name}" for name in short), columns=_COLUMNS,
    )  # fmt: skip


def template_schema(fields: Object, resolve: Resolve) -> Object:
    """Return the schema of a template: nothing is required, since an override may add it, and nothing has a default."""
    kept = {name: value for name, value in fields.items() if name not in _SERVERS}
    properties = {name: _shape(value, resolve, _LEVELS - 1) for name, value in kept.items()}
    if not properties:
        return {"type": "object", **ANYTHING}
    properties |= {"apiVersion": STRING, "kind": STRING, "metadata": {"type": "object", **ANYTHING}}
    return {"type": "object", "properties": properties}


def is_scalable(fields: Object, resolve: Resolve) -> bool:
    """Return whether objects have a number of replicas, which an autoscaler in a member may change."""
    spec = _resolved(fields.get("spec") or {}, resolve)
    replicas = (spec.get("properties") or {}).get("replicas") or {}
    return replicas.get("type") == "integer" and replicas.get("format") == "int32"


def _shape(schema: Object, resolve: Resolve, levels: int) -> Object:
    schema = _resolved(schema, resolve)
    kept = {name: schema[name] for name in _KEPT if name in schema}
    if kept.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return {"x-kubernetes-int-or-string": True}
    if kept.get("type") not in _TYPES:  # anything at all, or one of several
        return dict(ANYTHING)
    if kept["type"] == "array":
        return {"type": "array", "items": dict(ANYTHING)}
    if kept["type"] != "object":
        return kept
    properties = schema.get("properties")
    if levels <= 0 or not properties:
        return {"type": "object", **ANYTHING}
    return {
        "type": "object",
        "properties": {name: _shape(value, resolve, levels - 1) for name, value in properties.items()},
    }


def _resolved(schema: Object, resolve: Resolve) -> Object:
    """Return a schema without a reference at its top: OpenAPI writes one alone, or as the only one of allOf."""
    combined: list[Object] = schema.get("allOf") or []
    if len(combined) == 1 and "type" not in schema:
        schema = combined[0]
    return resolve(schema["$ref"]) if "$ref" in schema else schema
