"""Volumes that take up the node's local disk: pure functions of a pod's volume."""

from __future__ import annotations

from pybernetes.api.resource import Object


def is_ephemeral(volume: Object) -> bool:
    """Return whether a volume counts as the pod's local ephemeral storage."""
    if "emptyDir" in volume:
        return (volume["emptyDir"] or {}).get("medium", "") != "Memory"
    return any(name in volume for name in ("configMap", "gitRepo"))


def is_local(volume: Object) -> bool:
    """Return whether a volume lies on the node's disk."""
    return is_ephemeral(volume) or "hostPath" in volume
