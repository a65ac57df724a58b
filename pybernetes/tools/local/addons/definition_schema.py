"""Parts of schemas that definitions of custom resources share."""

from __future__ import annotations

from pybernetes.api.resource import Object


def described(properties: Object, *required: str, one: bool = False) -> Object:
    """Return the schema of an object; ``one`` of its fields must be set, and no other."""
    schema: Object = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema | ({"minProperties": 1, "maxProperties": 1} if one else {})


def conditions() -> Object:
    """Return the schema of the conditions of a status."""
    texts = {key: {"type": "string"} for key in ("type", "status", "reason", "message")}
    times = {"lastTransitionTime": {"type": "string", "format": "date-time"}}
    generation = {"observedGeneration": {"type": "integer", "format": "int64", "minimum": 0}}
    condition = described({**texts, **times, **generation}, "type", "status", "reason", "message", *times)
    listed = {"type": "array", "items": condition, "x-kubernetes-list-type": "map"}
    return {**listed, "x-kubernetes-list-map-keys": ["type"]}
