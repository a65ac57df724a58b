"""The field set of a value that was not there before, which every create computes.

A function is made for each type. Objects of one type mostly have the same fields set, so for each such
shape the leaves are laid out once and then copied; only what has fields of its own is walked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pybernetes.api.apply import elements, zero_values
from pybernetes.api.apply.field_sets import LEAF, SELF, FieldSet
from pybernetes.api.resource import Object
from pybernetes.api.schema import Type

Walk = Callable[[Any], FieldSet]
# The leaves of a shape, and the fields that must be walked: name, element, function.
Shape = tuple[FieldSet, tuple[tuple[str, str, Walk], ...]]
_SHAPES = 64

# Fields without a schema: objects by their structure, lists and scalars as a whole.
DEDUCED = Type("map")
DEDUCED.item = DEDUCED


def is_leaf(type_: Type) -> bool:
    """Return whether a field of the type is owned only as a whole."""
    return type_.atomic or type_.kind not in ("struct", "map", "list")


def field_type(type_: Type, name: str) -> Type:
    """Return the type of a field of a struct or of an entry of a map."""
    field = type_.fields.get(name) if type_.kind == "struct" else None
    return field or type_.item or DEDUCED


WALKS: dict[Type, Walk | None] = {}
CREATED: dict[Type, Walk] = {}


def whole(value: Any, type_: Type) -> FieldSet:
    """Return the set of a value that was not there before, as the node for its own element."""
    walk = _walk_of(type_)
    return LEAF if walk is None else walk(value)


def created(value: Object, type_: Type) -> FieldSet:
    """Return the set of an object compared with one in which nothing is set."""
    walk = CREATED.get(type_)
    if walk is None:
        if len(CREATED) > 10_000:  # types of custom resources come and go
            CREATED.clear()
        walk = CREATED[type_] = _created_walk(type_)
    return walk(value)


def _walk_of(type_: Type) -> Walk | None:
    """Return the function that gives the whole set of a value of a type, or None if such a value is a leaf."""
    try:
        return WALKS[type_]
    except KeyError:
        pass
    if len(WALKS) > 50_000:
        WALKS.clear()
    walk: Walk | None = None
    if not is_leaf(type_):
        walk = {"list": _list_walk, "map": _map_walk, "struct": _struct_walk}[type_.kind](type_)
    WALKS[type_] = walk
    return walk


def _struct_walk(type_: Type) -> Walk:
    shapes: dict[tuple[str, ...], Shape] = {}

    def walk(value: Any) -> FieldSet:
        if not value or type(value) is not dict:  # the validation that follows complains about it
            return LEAF
        names = tuple(value)
        shape = shapes.get(names)
        if shape is None:
            # Types can contain themselves, so the functions of fields are made when a field is first met.
            walks = {name: _walk_of(field_type(type_, name)) for name in names}
            leaves = {
                SELF: LEAF,
                **{"f:" + name: LEAF for name in sorted({*names, *zero_values.by_value(type_)})},
            }
            shape = leaves, tuple((name, "f:" + name, walk) for name, walk in walks.items() if walk)
            if len(shapes) < _SHAPES:
                shapes[names] = shape
        leaves, inner = shape
        if not inner:
            return leaves
        node = leaves.copy()
        for name, element, walk in inner:
            node[element] = walk(value[name])
        return node

    return walk


def _map_walk(type_: Type) -> Walk:
    assert type_.item is not None
    item_walk = None if type_.item is type_ else _walk_of(type_.item)

    def walk(value: Any) -> FieldSet:
        if not value or type(value) is not dict:
            return LEAF
        node: FieldSet = {SELF: LEAF}
        deeper = walk if type_.item is type_ else item_walk
        for name in sorted(value):
            node["f:" + name] = LEAF if deeper is None else deeper(value[name])
        return node

    return walk


def _list_walk(type_: Type) -> Walk:
    assert type_.item is not None
    item_walk = _walk_of(type_.item)

    def walk(value: Any) -> FieldSet:
        if not value or type(value) is not list:
            return LEAF
        node: FieldSet = {SELF: LEAF}
        in_order = len(value) == 1 or (not type_.keys and _comparable(value))
        for item in sorted(value) if in_order else value:
            element = elements.of_item(item, type_)
            # Items with the same identity are owned together, without what is inside of them.
            node[element] = LEAF if item_walk is None or element in node else item_walk(item)
        return node if in_order else {name: node[name] for name in sorted(node, key=elements.order)}

    return walk


def _comparable(items: list[Any]) -> bool:
    """Return whether the items of a set are in the order of their elements when they are sorted, which takes no keys."""
    kinds = set(map(type, items))
    return kinds <= {int, float} or kinds == {str}


def _created_walk(type_: Type) -> Walk:
    """Return a function like a struct's, but fields that are there from the start are not owned themselves."""
    present = zero_values.of(type_)
    steps: dict[str, tuple[str, Walk | None, Any]] = {}

    def walk(value: Any) -> FieldSet:
        node: FieldSet = {}
        for name in sorted(value):
            step = steps.get(name)
            if step is None:
                step = _created_step(type_, name, name in present)
                if type_.kind == "struct":
                    steps[name] = step
            element, inner, is_present = step
            item = value[name]
            if not is_present:
                node[element] = LEAF if inner is None else inner(item)
            elif item != present[name]:
                below = inner(item) if inner else LEAF
                if SELF in below:
                    below = {name: child for name, child in below.items() if name != SELF}
                if below or inner is None or (not item and present[name] is None):
                    node[element] = below
        return node

    return walk


def _created_step(type_: Type, name: str, is_present: bool) -> tuple[str, Walk | None, bool]:
    field = field_type(type_, name)
    if not is_present or is_leaf(field) or field.kind != "struct":
        return "f:" + name, _walk_of(field), is_present
    return "f:" + name, lambda value: created(value, field), True
