"""What is remembered of an object in a member: enough to decide whether it is what its template says.

Hundreds of clusters with hundreds of objects each fit into memory, because a template need not be kept for each.
"""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.kinds import MANAGED
from pybernetes.control_plane.federation.retention import kept_spec
from pybernetes.control_plane.federation.versions import content, object_version

_META = (
    "name", "namespace", "uid", "resourceVersion", "generation", "labels", "annotations", "finalizers",
    "deletionTimestamp", "ownerReferences",
)  # fmt: skip
# What somebody applied with kubectl has itself as an annotation, which nobody here asks for but which must be kept.
CONTENT = "content"
# Workloads that replace their pods when their template changes, and say how many they have replaced.
_REPLACING = ("Deployment", "StatefulSet")


def remembered(obj: Object) -> Object:
    """Return what is remembered of an object: its metadata, what is retained of it, its status and a digest of it."""
    meta = obj["metadata"]
    result: Object = {
        "kind": obj.get("kind", ""),
        "metadata": {name: meta[name] for name in _META if name in meta},
        CONTENT: content(obj),
    }
    spec = obj.get("spec")
    if isinstance(spec, dict):
        kept = kept_spec(result["kind"], spec)
        if kept:
            result["spec"] = kept
    for name in ("status", "secrets"):
        if obj.get(name):
            result[name] = obj[name]
    return result


def is_managed(obj: Object) -> bool:
    """Return whether an object in a member belongs to the federation."""
    return _label(obj) == "true"


def is_kept_out(obj: Object) -> bool:
    """Return whether somebody keeps an object in a member out of the federation."""
    return _label(obj) == "false"


def has_local_owner(obj: Object) -> bool:
    """Return whether a controller of the member looks after an object."""
    return any(owner.get("controller") for owner in obj["metadata"].get("ownerReferences") or ())


def is_being_deleted(obj: Object) -> bool:
    """Return whether an object waits for its end."""
    return "deletionTimestamp" in obj["metadata"]


def version(obj: Object) -> str:
    """Return the version of an object in a member, as a PropagatedVersion has it."""
    return object_version(obj)


def rolled_out(obj: Object) -> bool:
    """Return whether a workload runs as its template says; what is no workload does so at once."""
    status: dict[str, Any] = obj.get("status") or {}
    wanted = (obj.get("spec") or {}).get("replicas")
    if wanted is None:
        return True
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return False
    replicas, available = status.get("replicas", 0), status.get("availableReplicas", 0)
    # A count of zero is left out, which is not the same as a kind that does not count them.
    updated = status.get("updatedReplicas", 0) if obj.get("kind") in _REPLACING else replicas
    return bool(updated >= wanted and available >= wanted and replicas <= updated)


def _label(obj: Object) -> str:
    return (obj["metadata"].get("labels") or {}).get(MANAGED, "")
