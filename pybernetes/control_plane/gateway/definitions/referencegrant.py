"""ReferenceGrant: a namespace's word that others may refer to what is in it."""

from __future__ import annotations

from pybernetes.control_plane.gateway.definitions import _schema as schema
from pybernetes.control_plane.gateway.definitions._schema import list_, object_

_FROM = object_(
    {"group": schema.API_GROUP, "kind": schema.KIND, "namespace": schema.NAMESPACE},
    "group", "kind", "namespace",
)  # fmt: skip
_TO = object_({"group": schema.API_GROUP, "kind": schema.KIND, "name": schema.NAME}, "group", "kind")
DEFINITION = schema.definition(
    "ReferenceGrant",
    {"spec": object_({"from": list_(_FROM, 16, 1), "to": list_(_TO, 16, 1)}, "from", "to")},
    versions=("v1", "v1beta1"),
    stored="v1beta1",
    short="refgrant",
)
