"""The patch that brings an object from what it is to what is wanted, given what was wanted before.

Fields that were wanted before and are not any more are removed; fields that nobody here ever wanted stay.
"""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.resources.discovery import Resource


def merge_patch(original: Object | None, modified: Object, current: Object) -> Object:
    """Return a JSON merge patch, for kinds whose lists have no keys."""
    from pybernetes.api.patch.overlay import overlaid

    changes = _without_nulls(_merge_diff(current, modified))
    deletions = _only_nulls(_merge_diff(original or {}, modified))
    return overlaid(deletions, changes)


def _merge_diff(before: Object, after: Object) -> Object:
    from pybernetes.tools.kubectl.apply.strategic_diff import same

    patch: Object = {}
    for key, value in after.items():
        there = before.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            if inner := _merge_diff(there, value):
                patch[key] = inner
        elif key not in before or not same(there, value):
            patch[key] = value
    patch.update((key, None) for key in before if key not in after)
    return patch


def _without_nulls(patch: Object) -> Object:
    kept: Object = {}
    for key, value in patch.items():
        if isinstance(value, dict) and value:
            if inner := _without_nulls(value):
                kept[key] = inner
        elif value is not None:
            kept[key] = value
    return kept


def _only_nulls(patch: Object) -> Object:
    kept: Object = {}
    for key, value in patch.items():
        if value is None:
            kept[key] = None
        elif isinstance(value, dict) and (inner := _only_nulls(value)):
            kept[key] = inner
    return kept


def patch_for(
    resource: Resource, original: Object | None, modified: Object, current: Object, overwrite: bool = True
) -> tuple[Object, str]:
    """Return the patch for an object of a resource, and of which kind it is: strategic where its type is known.

    Without ``overwrite`` it is an error if somebody else changed what the patch changes.
    """
    type_ = _type_of(resource)
    if type_ is None:
        patch = merge_patch(original, modified, current)
        name = "name" in (patch.get("metadata") or {})
        if name or "apiVersion" in patch or "kind" in patch:
            raise CommandError("At least one of apiVersion, kind and name was changed")
        return patch, "merge"
    from pybernetes.tools.kubectl.apply import strategic_diff

    patch = strategic_diff.three_way(original, modified, current, type_)
    if not overwrite:
        changed = strategic_diff.two_way(original or {}, current, type_)
        if strategic_diff.conflicts(patch, changed, type_):
            from pybernetes.tools.kubectl.output.yaml.printer import dumps

            raise CommandError(
                "patch:\n" + dumps(patch) + "\nconflicts with changes made from original to current:\n" + dumps(changed) + "\n"
            )  # fmt: skip
    return patch, "strategic"


def edit_patch(resource: Resource, before: Object, after: Object) -> tuple[Object, str]:
    """Return the patch that makes one object of another, and of which kind it is."""
    type_ = _type_of(resource)
    if type_ is None:
        return _merge_diff(before, after), "merge"
    from pybernetes.tools.kubectl.apply.strategic_diff import two_way

    return two_way(before, after, type_), "strategic"


def _type_of(resource: Resource) -> Any:
    from pybernetes.api.schema import kind_type

    try:
        return kind_type(resource.group, resource.version, resource.kind)
    except KeyError:
        return None
