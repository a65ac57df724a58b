"""The field set that an applied configuration claims, and the sets of what differs between two objects.

Claimed are only leaves and the items of lists and maps; an ordinary writer who adds a value owns every
field on the way to its leaves, too (that is ``walks.whole``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pybernetes.api.apply import elements, zero_values
from pybernetes.api.apply.created_fields import DEDUCED, field_type, is_leaf, whole
from pybernetes.api.apply.field_sets import LEAF, SELF, FieldSet
from pybernetes.api.resource import Object
from pybernetes.api.schema import Type


def of(value: Any, type_: Type) -> FieldSet:
    """Return the set that an applied configuration claims."""
    return _claimed(value, type_) or LEAF


def _claimed(value: Any, type_: Type) -> FieldSet | None:
    if value is None or is_leaf(type_) or (type_ is DEDUCED and type(value) is not dict):
        return LEAF
    if type_.kind == "list":
        return _claimed_items(value, type_)
    if not value:
        return LEAF
    node = {}
    declared = type_.fields if type_.kind == "struct" else {}
    for name in sorted(value):
        inner = _claimed(value[name], field_type(type_, name))
        if name in declared:
            if inner is not None:
                node["f:" + name] = inner
        else:
            node["f:" + name] = {SELF: LEAF, **inner} if inner else LEAF
    return node or None


def _claimed_items(value: list[Any], type_: Type) -> FieldSet | None:
    assert type_.item is not None
    node: FieldSet = {}
    for item in value:
        element = elements.of_item(item, type_)
        if element in node:
            node[element] = LEAF
            continue
        inner = _claimed(item, type_.item)
        node[element] = {SELF: LEAF, **inner} if inner else LEAF
    return node or None


class Comparison(NamedTuple):
    """What a change did to the fields of an object."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet

    @property
    def same(self) -> bool:
        """Whether nothing changed."""
        return not (self.added or self.modified or self.removed)


_NONE: list[Any] = []
_EMPTY: Object = {}
NOTHING = Comparison({}, {}, {})
_MODIFIED = Comparison({}, {SELF: LEAF}, {})


def compare(old: Object, new: Object, type_: Type) -> Comparison:
    """Return the fields that were added, modified and removed between two objects."""
    if old == new:
        return NOTHING
    return _compare_objects(old, new, type_)


def _compare(old: Any, new: Any, type_: Type) -> Comparison:
    """Return the change of one value that both have and that differs; ``.`` in ``modified`` is the value itself."""
    if is_leaf(type_):
        return _MODIFIED
    if type_.kind == "list":
        if type(old or []) is not list or type(new or []) is not list:
            return _reshaped(old, new, type_)
        return _compare_items(old or [], new or [], type_) if old or new else _MODIFIED
    if type(old or {}) is not dict or type(new or {}) is not dict:
        return _reshaped(old, new, type_)
    return _compare_objects(old or {}, new or {}, type_) if old or new else _MODIFIED


def _reshaped(old: Any, new: Any, type_: Type) -> Comparison:
    """Compare a value that became an object or a list, or no longer is one: it was not checked yet."""
    added = (
        {path: owned for path, owned in whole(new, type_).items() if path != SELF}
        if type(new) in (dict, list)
        else {}
    )
    removed = (
        {path: owned for path, owned in whole(old, type_).items() if path != SELF}
        if type(old) in (dict, list)
        else {}
    )
    return Comparison(added, {SELF: LEAF}, removed)


def _compare_objects(old: Object, new: Object, type_: Type) -> Comparison:
    result = Comparison({}, {}, {})
    held = zero_values.by_value(type_) if type_.kind == "struct" else ()
    for name in sorted(new):
        value = new[name]
        if name in old or name in held:
            before = old.get(name, _EMPTY)
            if before != value:
                _attach(result, "f:" + name, _compare(before, value, field_type(type_, name)))
        else:
            result.added["f:" + name] = whole(value, field_type(type_, name))
    for name, value in old.items():
        if name in new:
            continue
        if name not in held:
            result.removed["f:" + name] = whole(value, field_type(type_, name))
        elif value:
            _attach(result, "f:" + name, _compare(value, _EMPTY, field_type(type_, name)))
    return result


def _attach(result: Comparison, element: str, inner: Comparison) -> None:
    for mine, theirs in zip(result, inner, strict=True):
        if theirs:
            mine[element] = LEAF if len(theirs) == 1 and SELF in theirs else theirs


def _compare_items(old: list[Any], new: list[Any], type_: Type) -> Comparison:
    item_type = type_.item
    assert item_type is not None
    before, after = _by_element(old, type_), _by_element(new, type_)
    result = Comparison({}, {}, {})
    for element in before | after:
        left, right = before.get(element, _NONE), after.get(element, _NONE)
        if len(left) < 2 and len(right) < 2:
            if not left:
                result.added[element] = whole(right[0], item_type)
            elif not right:
                result.removed[element] = whole(left[0], item_type)
            elif left[0] != right[0]:
                _attach(result, element, _compare(left[0], right[0], item_type))
        elif len(left) > 1 and len(right) > 1:
            if left != right:
                result.modified[element] = LEAF
        elif len(left) > 1:
            result.removed[element] = LEAF
            if right:
                result.added[element] = whole(right[0], item_type)
        else:
            result.added[element] = LEAF
            if left:
                result.removed[element] = whole(left[0], item_type)
    return result


def _by_element(items: list[Any], type_: Type) -> dict[str, list[Any]]:
    items_by_element: dict[str, list[Any]] = {}
    for item in items:
        items_by_element.setdefault(elements.of_item(item, type_), []).append(item)
    return items_by_element
