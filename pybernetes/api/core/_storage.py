"""What volumes and claims print and compare alike."""

from __future__ import annotations

from pybernetes.api.resource import Object

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_SHORT = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def access_modes(modes: list[str] | None) -> str:
    """Return the access modes in their short forms."""
    return ",".join(short for mode, short in _SHORT.items() if mode in (modes or ()))


def storage_class(obj: Object) -> str:
    """Return the storage class: the old annotation takes precedence over the field."""
    annotations = obj["metadata"].get("annotations") or {}
    if CLASS_ANNOTATION in annotations:
        return str(annotations[CLASS_ANNOTATION])
    return obj.get("spec", {}).get("storageClassName", "")


def phase(obj: Object) -> str:
    """Return the phase as it is printed."""
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return obj.get("status", {}).get("phase", "")
