"""Strategic merge patches computed from objects: what must be sent so that the server makes one of the other.

A three-way patch is the changes from what is there to what is wanted, without deletions, laid over the deletions from
what was wanted before to what is wanted now.
"""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object

DELETE = "$deleteFromPrimitiveList/"
ORDER = "$setElementOrder/"
RETAIN = "$retainKeys"
MARKER = "$patch"


def two_way(before: Object, after: Object, type_: Any) -> Object:
    """Return the patch that makes ``after`` of ``before``."""
    return _Diff(changes=True, deletions=True).maps(before, after, type_)


def three_way(original: Object | None, modified: Object, current: Object, type_: Any) -> Object:
    """Return the patch that makes ``current`` what ``modified`` wants, given what ``original`` wanted."""
    delta = _Diff(changes=True, deletions=False).maps(current, modified, type_)
    deletions = _Diff(changes=False, deletions=True).maps(original or {}, modified, type_)
    return _merge(deletions, delta, type_)


def same(left: Any, right: Any) -> bool:
    """Return whether two values are the same, true and 1 apart."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def field_of(type_: Any, key: str) -> Any:
    """Return the type of a field, None if it is not known."""
    if type_ is None:
        return None
    if type_.kind == "map":
        return type_.item
    return type_.fields.get(key) if type_.kind == "struct" else None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Diff:
    """The difference of two values: changes and additions, deletions, or both."""

    def __init__(self, *, changes: bool, deletions: bool) -> None:
        self._changes, self._deletions = changes, deletions

    def maps(self, before: Object, after: Object, type_: Any, retain: bool = False) -> Object:
        """Return the patch from one map to another; ``retain`` names all keys that stay."""
        patch: Object = {}
        for key, value in after.items():
            if key not in before or type(before[key]) is not type(value):
                if self._changes:
                    patch[key] = value
            elif key == MARKER:
                if before[key] != value:
                    patch[key] = value
            elif isinstance(value, dict):
                self._map_field(patch, key, before[key], value, field_of(type_, key))
            elif isinstance(value, list):
                self._list_field(patch, key, before[key], value, field_of(type_, key))
            elif self._changes and before[key] != value:
                patch[key] = value
        if self._deletions:
            patch.update((key, None) for key in before if key not in after)
        kept = sorted(key for key, value in after.items() if value is not None) if retain else []
        if kept and (patch or any(key not in after for key in before)):
            patch[RETAIN] = kept
        return patch

    def _map_field(self, patch: Object, key: str, before: Object, after: Object, field: Any) -> None:
        strategy = field.strategy if field is not None else ()
        if "replace" in strategy:
            if self._changes:
                patch[key] = after
        elif inner := self.maps(before, after, field, "retainKeys" in strategy):
            patch[key] = inner

    def _list_field(self, patch: Object, key: str, before: list[Any], after: list[Any], field: Any) -> None:
        if field is None or not field.merges:
            if self._changes and not same(before, after):
                patch[key] = after
            return
        if isinstance((before or after or [None])[0], dict):
            items, order = self._objects(before, after, field)
            dropped: list[Any] = []
        else:
            items, dropped, order = self._scalars(before, after)
        for name, value in ((key, items), (DELETE + key, dropped), (ORDER + key, order)):
            if value:
                patch[name] = value

    def _objects(self, before: list[Object], after: list[Object], field: Any) -> tuple[list[Any], list[Any]]:
        """Return the patched items of a list that is merged by a key, deletions last, and the order of the result."""
        key = field.merge_key
        for item in (*before, *after):
            if not isinstance(item, dict) or key not in item:
                raise CommandError(f"map: {item} does not contain declared merge key: {key}")
        changed: list[Object] = []
        dropped: list[Object] = []
        for old, new in paired(before, after, key):
            if old is not None and new is not None:
                if inner := self.maps(old, new, field.item, "retainKeys" in field.strategy):
                    changed.append({**inner, key: new[key]})
            elif new is not None and self._changes:
                changed.append(new)
            elif old is not None and self._deletions:
                dropped.append({MARKER: "delete", key: old[key]})
        order = [item[key] for item in after]
        changed.sort(key=lambda item: order.index(item[key]))
        moved = [item[key] for item in before] != order
        items = changed + dropped
        told = (self._changes and (items or moved)) or (self._deletions and items)
        return items, [{key: value} for value in order] if told else []

    def _scalars(self, before: list[Any], after: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return what is added to a list of plain values, what is dropped, and the order of the result."""
        added = [item for item in after if item not in before] if self._changes else []
        dropped = sorted({item for item in before if item not in after}, key=_text) if self._deletions else []
        told = dropped or (self._changes and not same(before, after))
        return added, dropped, after if told else []


def paired(before: list[Object], after: list[Object], key: str) -> list[tuple[Object | None, Object | None]]:
    """Return the items of two lists side by side, by the text of a key; None where one has no such item."""
    left, right = (sorted(items, key=lambda item: _text(item[key])) for items in (before, after))
    pairs: list[tuple[Object | None, Object | None]] = []
    while left or right:
        if left and right and _text(left[0][key]) == _text(right[0][key]):
            pairs.append((left.pop(0), right.pop(0)))
        elif not left or (right and _text(left[0][key]) > _text(right[0][key])):
            pairs.append((None, right.pop(0)))
        else:
            pairs.append((left.pop(0), None))
    return pairs


def _merge(deletions: Object, delta: Object, type_: Any) -> Object:
    """Return a patch of deletions with a patch of changes laid over it."""
    merged = dict(deletions)
    for key, value in delta.items():
        there = merged.get(key)
        field = field_of(type_, key)
        if isinstance(there, dict) and isinstance(value, dict):
            replaces = field is not None and "replace" in field.strategy
            merged[key] = value if replaces else _merge(there, value, field)
        elif isinstance(there, list) and isinstance(value, list) and field is not None and field.merges:
            order = delta.get(ORDER + key) or value
            merged[key] = _merge_items(there, value, order, field)
        else:
            merged[key] = value
    return merged


def _merge_items(there: list[Any], value: list[Any], order: list[Any], field: Any) -> list[Any]:
    key = field.merge_key
    if not key:
        return value
    items = [dict(item) for item in there]
    for item in value:
        places = [place for place, other in enumerate(items) if other.get(key) == item.get(key)]
        if places:
            items[places[0]] = _merge(items[places[0]], item, field.item)
        else:
            items.append(item)
    names = [item.get(key) for item in order]
    kept = [item for item in items if MARKER not in item and item.get(key) in names]
    kept.sort(key=lambda item: names.index(item.get(key)))
    return kept + [item for item in items if MARKER in item or item.get(key) not in names]


def conflicts(left: Any, right: Any, field: Any = None) -> bool:
    """Return whether two patches change the same thing in different ways."""
    if isinstance(left, dict):
        if not isinstance(right, dict) or left.get(MARKER) != right.get(MARKER):
            return True
        if field is not None and "replace" in field.strategy:
            return False
        return any(
            conflicts(value, right[key], field_of(field, key))
            for key, value in left.items()
            if key not in (MARKER, RETAIN) and not key.startswith((ORDER, DELETE)) and key in right
        )
    if not isinstance(left, list):
        return not same(left, right)
    if not isinstance(right, list):
        return True
    if field is not None and field.merges:
        if not field.merge_key or not isinstance((left or right or [None])[0], dict):
            return False
        known = {_text(item.get(field.merge_key)): item for item in right}
        return any(
            conflicts(item, known[name], field.item)
            for item in left
            if (name := _text(item.get(field.merge_key))) in known
        )
    if len(left) != len(right):
        return True
    if left and not isinstance(left[0], dict):
        left, right = sorted(left, key=_text), sorted(right, key=_text)
    return any(conflicts(one, other) for one, other in zip(left, right, strict=True))
