"""Field sets in the form in which the API shows them: the nested objects of FieldsV1.

``{"f:spec": {"f:replicas": {}, "f:template": {".": {}, "f:spec": {}}}}`` holds three paths. A node is in
the set when it is empty or has a ``.``; a node that is not in the set has children that are. Sets are never
changed once made, so they share nodes freely.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pybernetes.api.apply import elements
from pybernetes.api.resource import Object

# What managedFields shows: the nested objects of FieldsV1.
FieldSet = Object
LEAF: FieldSet = {}
SELF = "."


def has(fields: FieldSet, *path: str) -> bool:
    """Return whether a path, given as elements such as ``f:spec``, is in the set."""
    node: FieldSet | None = fields
    for element in path:
        node = node.get(element) if node is not None else None
    return node is not None and bool(path) and (not node or SELF in node)


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the paths that are in either set."""
    if not left or not right:
        return left or right
    result = left.copy()
    for element, node in right.items():
        mine = result.get(element)
        result[element] = node if mine is None else _union(mine, node)
    return result


def _union(left: FieldSet, right: FieldSet) -> FieldSet:
    if left == right:
        return left
    if not left or not right:
        node = left or right
        return node if SELF in node else {SELF: LEAF, **node}
    return union(left, right)


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the paths of the first set that are not in the second."""
    return _without(left, right, below=False)


def without(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the paths of the first set that are neither in the second nor below a path of it."""
    return _without(left, right, below=True)


def _without(left: FieldSet, right: FieldSet, below: bool) -> FieldSet:
    if not right:
        return left
    result = {}
    for element, node in left.items():
        other = right.get(element)
        if other is None or element == SELF:
            result[element] = node
            continue
        other_is_in = not other or SELF in other
        if below and other_is_in:
            continue
        is_in = (not node or SELF in node) and not other_is_in
        children = {name: child for name, child in node.items() if name != SELF}
        left_over = _without(children, other, below) if children else children
        if left_over:
            result[element] = {SELF: LEAF, **left_over} if is_in else left_over
        elif is_in:
            result[element] = LEAF
    return result


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the paths that are in both sets."""
    result = {}
    for element, node in left.items():
        other = right.get(element)
        if other is None or element == SELF:
            continue
        both = (not node or SELF in node) and (not other or SELF in other)
        children = intersection(node, other)
        if children:
            result[element] = {SELF: LEAF, **children} if both else children
        elif both:
            result[element] = LEAF
    return result


def matching(fields: FieldSet, pattern: FieldSet) -> FieldSet:
    """Return the paths that a pattern allows: ``*`` stands for any element, an empty node for all that is below."""
    if not pattern:
        return fields
    result = {}
    for element, node in fields.items():
        wanted = pattern.get(element, pattern.get("*"))
        if wanted is None or element == SELF:
            continue
        is_in = not node or SELF in node
        children = matching({name: child for name, child in node.items() if name != SELF}, wanted)
        if children:
            result[element] = {SELF: LEAF, **children} if is_in else children
        elif is_in:
            result[element] = LEAF
    return result


def paths(fields: FieldSet, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return every path of the set; those that end at a level come before those that go deeper."""
    for element, node in fields.items():
        if element != SELF and (not node or SELF in node):
            yield (*prefix, element)
    for element, node in fields.items():
        if element != SELF and node:
            yield from paths(node, (*prefix, element))


def ordered(fields: FieldSet) -> FieldSet:
    """Return the same set with its elements in the order in which Kubernetes writes them."""
    names = sorted(fields)
    if names and names[-1][0] != "f":  # fields sort as text, items of lists by what identifies them
        names.sort(key=elements.order)
    return {name: ordered(node) if (node := fields[name]) else node for name in names}


def parse(value: Any) -> FieldSet:
    """Return a set that a client sent, in clean form; raise ValueError if it is none."""
    if type(value) is not dict:
        raise ValueError("fieldsV1 is not an object")
    result: FieldSet = {}
    for element, node in value.items():
        if element == SELF:
            continue
        clean = elements.parse(element)
        if clean is None:
            continue
        children = parse(node)
        if children and type(node) is dict and SELF in node:
            children = {SELF: LEAF, **children}
        result[clean] = children
    return result
