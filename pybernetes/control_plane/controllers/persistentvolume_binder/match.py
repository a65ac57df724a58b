"""Which volume fits a claim. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from pybernetes.api import quantity, selectors
from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._volumes.claims import class_of


def capacity(volume: Object) -> Fraction:
    """Return the size of a volume."""
    return quantity.parse((volume["spec"].get("capacity") or {}).get("storage", "0"))


def requested(claim: Object) -> Fraction:
    """Return the size that a claim asks for."""
    return quantity.parse(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage", "0"))


def mode(obj: Object) -> str:
    """Return whether it is a filesystem or a block device."""
    return obj["spec"].get("volumeMode") or "Filesystem"


def is_bound_to(volume: Object, claim: Object) -> bool:
    """Return whether a volume is bound to this claim, or reserved for one of its name."""
    reference = volume["spec"].get("claimRef")
    meta = claim["metadata"]
    return (
        bool(reference)
        and (reference.get("namespace"), reference.get("name")) == (meta["namespace"], meta["name"])
        and reference.get("uid") in (None, "", meta["uid"])
    )


def _modes(obj: Object) -> set[str]:
    return set(obj["spec"].get("accessModes") or ())


def _attributes(obj: Object) -> str:
    return obj["spec"].get("volumeAttributesClassName") or ""


def mismatch(volume: Object, claim: Object) -> str:
    """Return why a volume that a claim names does not fit, or an empty string."""
    if is_being_deleted(volume):
        return f'the volume is marked for deletion "{volume["metadata"]["name"]}"'
    if capacity(volume) < requested(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if _attributes(volume) != _attributes(claim):
        return "volumeAttributesClassName does not match"
    if mode(volume) != mode(claim):
        return "incompatible volumeMode"
    if not _modes(claim) <= _modes(volume):
        return "incompatible accessMode"
    return ""


def find(claim: Object, volumes: Iterable[Object], delayed: bool) -> Object | None:
    """Return the best volume for a claim: one reserved for it, else the smallest with the fewest access modes.

    If binding is delayed until there is a pod, only the first will do: the scheduler chooses among the others.
    """
    size, wanted = requested(claim), _modes(claim)
    selector = claim["spec"].get("selector")
    labels = selectors.from_object(selector) if selector is not None else selectors.EVERYTHING
    best: tuple[tuple[int, Any, str], Object] | None = None
    for volume in volumes:
        spec = volume["spec"]
        if spec.get("claimRef") and not is_bound_to(volume, claim):
            continue
        if (
            capacity(volume) < size
            or mode(volume) != mode(claim)
            or _attributes(volume) != _attributes(claim)
            or is_being_deleted(volume)
            or not wanted <= _modes(volume)
        ):
            continue
        if is_bound_to(volume, claim):
            return volume
        if delayed or volume.get("status", {}).get("phase") != "Available":
            continue
        if class_of(volume) != class_of(claim) or not labels.matches(volume["metadata"].get("labels")):
            continue
        rank = (len(_modes(volume)), capacity(volume), volume["metadata"]["name"])
        if best is None or rank < best[0]:
            best = (rank, volume)
    return best[1] if best is not None else None
