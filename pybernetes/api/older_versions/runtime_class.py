"""RuntimeClass v1alpha1, which has a spec."""

from __future__ import annotations

from pybernetes.api.older_versions._older_version import OlderVersion, Table
from pybernetes.api.resource import Object


def convert(obj: Object) -> Object:
    """Put the fields of the spec into the object itself."""
    spec = obj.pop("spec", None) or {}
    obj["handler"] = spec.get("runtimeHandler", "")
    for field in ("overhead", "scheduling"):
        if spec.get(field):
            obj[field] = spec[field]
    return obj


OLDER: Table = {
    ("node.k8s.io/v1alpha1", "RuntimeClass"): OlderVersion(
        "node.k8s.io/v1", convert, "io.k8s.api.node.v1alpha1.RuntimeClass"
    )
}
