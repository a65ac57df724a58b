"""What both kinds of propagated versions have."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation.schemas import STRING, definition, list_, object_

_CLUSTER = object_({"clusterName": STRING, "version": STRING}, "clusterName", "version")
_STATUS = object_(
    {"templateVersion": STRING, "overridesVersion": STRING, "clusterVersions": list_(_CLUSTER)},
    "templateVersion", "overridesVersion",
)  # fmt: skip


def definition_of(ref: Ref) -> Object:
    """Return the definition of a kind that has versions in its status."""
    return definition(
        ref.group, ref.version, ref.kind, ref.plural, {"status": _STATUS}, namespaced=ref.namespaced, required=()
    )  # fmt: skip
