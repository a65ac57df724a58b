"""The patch that brings an object from what it is to what is wanted, given what was wanted before.

Fields that were wanted before and are not any more are removed; fields that nobody here ever wanted stay.
"""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.resources.discovery import Resource


_DELETE = "$deleteFromPrimitiveList"
_ORDER = "$setElementOrder"


def merge_patch(original: Object | None, modified: Object, current: Object) -> Object:
    """Return a JSON merge patch, for kinds whose lists have no keys."""
    patch: Object = {}
    for key, value in modified.items():
        now = current.get(key)
        if value is None:
            if key in current:
                patch[key] = None
        elif isinstance(value, dict) and isinstance(now, dict):
            before = (original or {}).get(key)
            inner = merge_patch(before if isinstance(before, dict) else None, value, now)
            if inner:
                patch[key] = inner
        elif value != now or key not in current:
            patch[key] = value
    for key in original or {}:
        if key not in modified and key in current:
            patch[key] = None
    return patch


def strategic_patch(original: Object | None, modified: Object, current: Object, type_: Any) -> Object:
    """Return a strategic merge patch, for kinds whose type is known."""
    patch: Object = {}
    original = original or {}
    for key, value in modified.items():
        now, before = current.get(key), original.get(key)
        field = _field(type_, key)
        if value is None:
            if key in current:
                patch[key] = None
        elif isinstance(value, dict) and isinstance(now, dict):
            if field is not None and "replace" in field.strategy:
                patch[key] = value  # always, as the original does
                continue
            inner = strategic_patch(before if isinstance(before, dict) else None, value, now, field)
            if inner:
                patch[key] = inner
                if field is not None and "retainKeys" in field.strategy:
                    inner["$retainKeys"] = sorted(value)
        elif isinstance(value, list) and isinstance(now, list) and field is not None and field.merges:
            _list(patch, key, before if isinstance(before, list) else [], value, now, field)
        elif key not in current or not same(value, now):
            patch[key] = value
    for key in original:
        if key not in modified and key in current:
            patch[key] = None
    return patch


def _field(type_: Any, key: str) -> Any:
    if type_ is None:
        return None
    if type_.kind == "map":
        return type_.item
    return type_.fields.get(key) if type_.kind == "struct" else None


def same(left: Any, right: Any) -> bool:
    """Tell whether two values are the same, true and 1 apart."""
    return type(left) is type(right) and left == right


def _list(
    patch: Object, key: str, original: list[Any], modified: list[Any], current: list[Any], field: Any
) -> None:
    if field.merge_key and all(isinstance(item, dict) for item in (*original, *modified, *current)):
        _objects(patch, key, original, modified, current, field)
        return
    added = [item for item in modified if item not in current]
    dropped = [item for item in original if item not in modified and item in current]
    if not added and not dropped:
        return
    if added:
        patch[key] = added
    if dropped:
        patch[f"{_DELETE}/{key}"] = dropped
    patch[f"{_ORDER}/{key}"] = modified


def _objects(
    patch: Object, key: str, original: list[Object], modified: list[Object], current: list[Object], field: Any
) -> None:
    name = field.merge_key
    before = {item.get(name): item for item in original}
    now = {item.get(name): item for item in current}
    wanted = [item.get(name) for item in modified]
    changes: list[Object] = []
    for wanted_item in modified:
        identity = wanted_item.get(name)
        if identity not in now:
            changes.append(wanted_item)
            continue
        inner = strategic_patch(before.get(identity), wanted_item, now[identity], field.item)
        if inner:
            changes.append({**inner, name: identity})
    changes += [{"$patch": "delete", name: value} for value in before if value not in wanted and value in now]
    there = [value for value in (item.get(name) for item in current) if value in wanted]
    reordered = there != [value for value in wanted if value in now]
    if not changes and not reordered:
        return
    if changes:
        patch[key] = changes
    patch[f"{_ORDER}/{key}"] = [{name: value} for value in wanted]


def patch_for(
    resource: Resource, original: Object | None, modified: Object, current: Object
) -> tuple[Object, str]:
    """Return the patch for an object of a resource, and of which kind it is: strategic where its type is known."""
    from pybernetes.api.schema import kind_type

    try:
        type_ = kind_type(resource.group, resource.version, resource.kind)
    except KeyError:
        return merge_patch(original, modified, current), "merge"
    return strategic_patch(original, modified, current, type_), "strategic"
