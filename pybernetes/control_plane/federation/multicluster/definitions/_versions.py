"""What both kinds have: two versions that are alike, and conditions."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation.schemas import INTEGER, STRING, TIME, definition, object_

_STORED = "v1beta1"
_REASON = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
CONDITIONS: Object = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": object_(
        {
            "type": {"type": "string", "maxLength": 316},
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": {"type": "string", "minLength": 1, "maxLength": 1024, "pattern": _REASON},
            "message": {"type": "string", "maxLength": 32768},
            "lastTransitionTime": TIME,
            "observedGeneration": {**INTEGER, "minimum": 0},
        },
        "type", "status", "reason", "message", "lastTransitionTime",
    ),
}  # fmt: skip


def definition_of(
    ref: Ref, schema: Object, short: tuple[str, ...], columns: tuple[tuple[str, str, str], ...]
) -> Object:
    """Return the definition of a kind in the version of its reference and in the one that is stored."""
    columns = (*columns, ("Age", "date", ".metadata.creationTimestamp"))
    made = definition(
        ref.group, _STORED, ref.kind, ref.plural, schema, required=(), short=short, columns=columns
    )
    stored = made["spec"]["versions"][0]
    made["spec"]["versions"] = [{**stored, "name": ref.version, "storage": False}, stored]
    return made


STRINGS: Object = {"type": "object", "additionalProperties": STRING}
