"""Lay an applied configuration over an object, and take fields out of an object."""

from __future__ import annotations

from collections import deque
from typing import Any

from pybernetes.api.apply import elements
from pybernetes.api.apply.created_fields import field_type, is_leaf
from pybernetes.api.apply.field_sets import LEAF, SELF, FieldSet
from pybernetes.api.schema import Type
from pybernetes.api.validation.checks import repetitions


def merge(live: Any, applied: Any, type_: Type) -> Any:
    """Return the live value with the applied one over it; nothing is removed."""
    if applied is None:
        return live if live and not is_leaf(type_) else None
    if is_leaf(type_) or not live or not applied or type(live) is not type(applied):
        return live if live and applied in ({}, []) and not is_leaf(type_) else applied
    if type_.kind == "list":
        return _merge_lists(live, applied, type_)
    if type(applied) is not dict:
        return applied
    result = live.copy()
    for name, value in applied.items():
        result[name] = merge(live[name], value, field_type(type_, name)) if name in live else value
    return result


def _merge_lists(live: list[Any], applied: list[Any], type_: Type) -> list[Any]:
    """Return both lists: items that both have in the applied order, the others where they stood."""
    assert type_.item is not None
    new = {elements.of_item(item, type_): item for item in applied}
    old_elements = [elements.of_item(item, type_) for item in live]
    old = dict(zip(old_elements, live, strict=True))
    repeated = {old_elements[index] for index in repetitions(old_elements)} if len(old) < len(live) else ()

    def merged(element: str) -> Any:
        if element not in old or element in repeated:
            return new[element]
        return merge(old[element], new[element], item_type)

    item_type = type_.item
    shared = deque(element for element in new if element in old)
    result, done = [], set()
    wanted = list(new)
    left = right = 0
    while left < len(live) or right < len(wanted):
        if left < len(live):
            element = old_elements[left]
            if element not in new:
                result.append(live[left])
                left += 1
                continue
            # An item that both have waits until its turn in the applied order; passed over, it comes then.
            if element in done or (
                right < len(wanted) and element != wanted[right] and not (shared and shared[0] == element)
            ):
                left += 1
                continue
        if right < len(wanted):
            element = wanted[right]
            result.append(merged(element))
            done.add(element)
            right += 1
            if shared and shared[0] == element:
                shared.popleft()
    return result


def remove(value: Any, unwanted: FieldSet, type_: Type) -> Any:
    """Return the value without the unwanted fields and items; None if nothing of it is left."""
    if type(value) is list and not is_leaf(type_):
        items = [_kept(item, elements.of_item(item, type_), unwanted, type_.item) for item in value]
        return [item for item in items if item is not _GONE] or None
    if type(value) is dict and not is_leaf(type_):
        kept = {
            name: _kept(item, "f:" + name, unwanted, field_type(type_, name)) for name, item in value.items()
        }
        return {name: item for name, item in kept.items() if item is not _GONE} or None
    return None if type(value) in (dict, list) else value


class _Gone:
    pass


_GONE: Any = _Gone()


def _kept(item: Any, element: str, unwanted: FieldSet, type_: Type | None) -> Any:
    node = unwanted.get(element)
    if node is None:
        return item
    if not node or SELF in node:
        return _GONE
    assert type_ is not None
    return remove(item, node, type_)


def with_named_fields(fields: FieldSet, type_: Type | None) -> FieldSet:
    """Return the set with every declared field in it that has something below it in the set."""
    result = {}
    for element, node in fields.items():
        if not node:
            result[element] = node
            continue
        inner, declared = _below(element, type_)
        below = with_named_fields(node, inner)
        result[element] = {SELF: LEAF, **below} if declared and SELF not in below else below
    return result


def _below(element: str, type_: Type | None) -> tuple[Type | None, bool]:
    """Return the type of what an element names, and whether it is a field that the type declares."""
    if type_ is None:
        return None, False
    if element[:2] == "f:" and type_.kind in ("struct", "map"):
        declared = type_.kind == "struct" and element[2:] in type_.fields
        return field_type(type_, element[2:]), declared
    return (type_.item, False) if type_.kind == "list" else (None, False)
