"""PriorityLevelConfiguration v1beta1 and v1beta2, which call shares by another name."""

from __future__ import annotations

from pybernetes.api.older_versions._older_version import OlderVersion, Table
from pybernetes.api.resource import Object


def convert(obj: Object) -> Object:
    """Rename the shares."""
    limited = (obj.get("spec") or {}).get("limited") or {}
    if "assuredConcurrencyShares" in limited:
        limited["nominalConcurrencyShares"] = limited.pop("assuredConcurrencyShares")
    return obj


OLDER: Table = {
    (f"flowcontrol.apiserver.k8s.io/{version}", "PriorityLevelConfiguration"): OlderVersion(
        "flowcontrol.apiserver.k8s.io/v1", convert
    )
    for version in ("v1beta1", "v1beta2")
}
