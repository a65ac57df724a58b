"""Claims, their templates and slices v1beta1: what a request or a device is stands one level higher or deeper."""

from __future__ import annotations

from pybernetes.api.older_versions._older_version import OlderVersion, Table
from pybernetes.api.resource import Object

_EXACTLY = (
    "deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity",
    "derivedAttributes",
)  # fmt: skip


def _spec(obj: Object) -> Object:
    return obj.get("spec") or {}


def _requests(claim_spec: Object) -> None:
    """Gather what a request asks for under ``exactly``, if it asks for anything itself."""
    for request in (claim_spec.get("devices") or {}).get("requests") or ():
        exactly = {name: request.pop(name) for name in _EXACTLY if name in request}
        # Lists count when they are there, texts and numbers when they are not zero.
        if any(value not in (None, "", 0) or value is False for value in exactly.values()):
            request["exactly"] = exactly


def claim(obj: Object) -> Object:
    """Convert a ResourceClaim."""
    _requests(_spec(obj))
    return obj


def template(obj: Object) -> Object:
    """Convert a ResourceClaimTemplate."""
    _requests(_spec(_spec(obj)))
    return obj


def resource_slice(obj: Object) -> Object:
    """Convert a ResourceSlice: an empty node name and ``false`` for all nodes were not to be told from none."""
    spec = _spec(obj)
    for name in ("nodeName", "allNodes"):
        if not spec.get(name):
            spec.pop(name, None)
    for device in spec.get("devices") or ():
        device.update(device.pop("basic", None) or {})
    return obj


OLDER: Table = {
    ("resource.k8s.io/v1beta1", kind): OlderVersion(
        "resource.k8s.io/v1", convert, f"io.k8s.api.resource.v1beta1.{kind}"
    )
    for kind, convert in (
        ("ResourceClaim", claim),
        ("ResourceClaimTemplate", template),
        ("ResourceSlice", resource_slice),
    )
}
