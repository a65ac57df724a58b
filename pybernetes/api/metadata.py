"""Fields that a write leaves as they were; for the write of a status, the metadata."""

from __future__ import annotations

from pybernetes.api.resource import Object

_CHANGEABLE = ("labels", "annotations", "finalizers", "ownerReferences")


def keep(new: Object, old: Object, *keys: str) -> None:
    """Make keys of the new object what they are in the old, absence included."""
    for key in keys:
        if key in old:
            new[key] = old[key]
        else:
            new.pop(key, None)


def keep_metadata(new: Object, old: Object) -> None:
    """Keep the metadata, for kinds whose status writes reach nothing else."""
    keep(new["metadata"], old["metadata"], *_CHANGEABLE)
