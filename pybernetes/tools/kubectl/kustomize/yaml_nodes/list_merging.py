"""Merges lists whose items are told apart by keys, or by themselves: what a patch adds comes first.

Most lists have one key and all items have it: that is done in one go. The others go the way of the original, whose
results for items without keys are what they are.
"""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    is_empty,
    is_null,
    scalar,
    value_of,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import get, set_field, set_scalar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.schema import Schema

MAX_ITEMS = 2_000  # of a list that takes a look at each pair of items


def merge_list(target: Node, patch: Node | None, schema: Schema, walk: Callable[..., Any]) -> Node | None:
    """Return a list with another one merged into it."""
    keys = schema.keys or [""]
    lists = [source for source in (patch, target) if source is not None]
    if len(keys) == 1 and all(_is_plain(source, keys[0]) for source in lists):
        return _plain(target, patch, keys[0], schema, walk)
    if max(source.size for source in lists) > MAX_ITEMS:
        raise BuildError(f"a list with more than {MAX_ITEMS} items cannot be merged by {', '.join(keys)}")
    return _general(target, patch, keys, schema, walk)


def _is_plain(items: Node, key: str) -> bool:
    """Return whether all items are scalars, or have a key of their own."""
    if items.kind != SEQUENCE:
        return False
    if not key:
        return all(item.kind == SCALAR and item.value and not is_null(item) for item in items.content)
    values = [value_of(item.content.get(key)) if item.kind == MAPPING else "" for item in items.content]
    return all(values) and len(set(values)) == len(values)


def _identity(item: Node, key: str) -> str:
    return item.content[key].value if key else item.value


def _plain(target: Node, patch: Node | None, key: str, schema: Schema, walk: Callable[..., Any]) -> Node:
    mine: dict[str, Node] = {}
    for item in target.content:
        mine.setdefault(_identity(item, key), item)
    others: dict[str, Node] = {}
    for item in patch.content if patch is not None else ():
        others.setdefault(_identity(item, key), item)
    kept: dict[str, Node] = {}
    for value in list({**others, **mine}):
        merged = walk(mine.get(value), others.get(value), schema.items)
        if is_null(merged) or (merged.kind == MAPPING and not merged.content):
            mine.pop(value, None)
            continue
        if key and key not in merged.content:
            set_field(merged, key, scalar(value))
        elif not key:
            set_scalar(merged, scalar(value))
        kept[value] = merged
    for value, item in mine.items():
        kept[value] = item
    return Node(SEQUENCE, content=list(kept.values()))


def _general(
    target: Node, patch: Node | None, keys: list[str], schema: Schema, walk: Callable[..., Any]
) -> Node | None:
    sources = [target, patch]
    values_list = _values(patch, target, keys)
    if len(keys) > 1:
        _complete(values_list)
    made: list[Node] = []
    valid_keys, valid_values = keys, [""]
    for values in values_list:
        valid_keys, valid_values = _valid(values_list, values, keys)
        names, wanted = _valid([valid_values], valid_values, valid_keys)
        own, other = (_element(source, names, wanted) for source in sources)
        merged = walk(own, other, schema.items)
        if is_null(merged) or (merged.kind == MAPPING and not merged.content):
            target.content = _set_element(target.content, valid_keys, valid_values, None)
            continue
        for name, value in zip(valid_keys, valid_values, strict=True):
            if merged.field(name) is None and value:
                if name:
                    set_field(merged, name, scalar(value))
                else:
                    set_scalar(merged, scalar(value))
        made = _set_element(made, valid_keys, valid_values, merged)
    if not values_list:
        return target
    return Node(SEQUENCE, content=_append(made, target.content, valid_keys))


def _values(patch: Node | None, target: Node, keys: list[str]) -> list[list[str]]:
    """Return the values of the keys of all items, those of the patch first, each once."""
    combinations: dict[tuple[str, ...], None] = {}
    for source in (patch, target):
        for item in source.content if source is not None and source.kind == SEQUENCE else ():
            if keys == [""]:
                combinations[(item.value,)] = None
                continue
            fields = (item.field(key) for key in keys)
            combinations[
                tuple("" if is_empty(field) or field is None else field.value for field in fields)
            ] = None
    return [list(values) for values in combinations]


def _complete(values_list: list[list[str]]) -> None:
    """Fill in the values that an item has not, from one that it could be."""
    for place, values in enumerate(values_list):
        for other, candidates in enumerate(values_list):
            if (matched := _match(values_list[place], candidates)) is not None:
                values_list[place] = values_list[other] = matched
        del values


def _match(left: list[str], right: list[str]) -> list[str] | None:
    if not any(one == other for one, other in zip(left, right, strict=True)):
        return None
    if any(one and other and one != other for one, other in zip(left, right, strict=True)):
        return None
    return [one or other for one, other in zip(left, right, strict=True)]


def _valid(values_list: list[list[str]], values: list[str], keys: list[str]) -> tuple[list[str], list[str]]:
    """Return the keys for which some item has a value, and the values."""
    used = {key for row in values_list for key, value in zip(keys, row, strict=True) if value}
    if not used:
        return keys, values
    return (
        [key for key in keys if key in used],
        [value for key, value in zip(keys, values, strict=True) if value or key in used],
    )


def _element(source: Node | None, keys: list[str], values: list[str]) -> Node | None:
    if source is None or source.kind != SEQUENCE:
        return None
    for item in source.content:
        if keys == [""]:
            if item.value == values[0]:
                return item
        elif item.kind == MAPPING and all(
            (field := item.content.get(key)) is not None and field.value == value
            for key, value in zip(keys, values, strict=False)
        ):
            return item
    return None


def _set_element(items: list[Node], keys: list[str], values: list[str], element: Node | None) -> list[Node]:
    """Return a list with an element in the places of all that match; without an element these go."""
    kept: list[Node] = []
    matched = False
    by_key = bool(keys[0] and values and values[0])
    for item in items:
        if is_null(item) or (item.kind == MAPPING and not item.content):
            continue
        if item.kind != MAPPING and by_key:
            kept.append(item)
        elif not _matches(item, keys, values):
            if values:
                kept.append(item)
        else:
            matched = True
            if element is not None:
                kept.append(element)
    if element is not None and not is_null(element) and not matched:
        kept.append(element)
    return kept


def _matches(item: Node, keys: list[str], values: list[str]) -> bool:
    for place, key in enumerate(keys):
        if place >= len(values):
            return place > 0  # the original asks the last key again
        if not key:
            if value_of(item) != values[place]:
                return False
            continue
        field = get(item, key)
        if field is None or (values[place] and field.value != values[place]):
            return False
    return True


def _append(items: list[Node], others: list[Node], keys: list[str]) -> list[Node]:
    for item in others:
        if keys[0] == "":
            items = _set_element(items, [""], [item.value], item)
            continue
        values = []
        for key in keys:
            field = get(item, key)
            if field is None:
                items.append(item)
            else:
                values.append(field.value)
        if len(keys) > 1:
            items = _set_element(items, keys, values, None)
        items = _set_element(items, keys, values, item)
    return items
