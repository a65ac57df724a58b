"""What Go writes as null: lists that are always written although nobody gave them, and times that were not set.

Stored objects have them, so that clients see what upstream shows; functions of objects never meet them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.schema import Type

# The fields on the way to a null, and its own.
Paths = tuple[tuple[tuple[str, ...], str], ...]
_paths: dict[Type, Paths] = {}


def paths(type_: Type) -> Paths:
    """Return the paths of nulls in an object of a built-in type, as far as they are not inside of a list."""
    known = _paths.get(type_)
    if known is None:
        known = _paths[type_] = tuple((path[:-1], path[-1]) for path in _find(type_, ()))
    return known


def _find(type_: Type, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, field in type_.fields.items():
        if (field.kind == "list" and field.always) or (field.kind in ("time", "microtime") and not path):
            yield (*path, name)
        elif field.kind == "struct" and name != "metadata" and len(path) < 2:
            yield from _find(field, (*path, name))


def fill(obj: Object, type_: Type) -> Object:
    """Put the nulls into the object, in place, and return it."""
    for path, last in _paths.get(type_) or paths(type_):
        held: Any = obj
        for name in path:
            held = held.get(name)
            if held is None:
                break
        else:
            held.setdefault(last, None)
    return obj


def drop(obj: Object, type_: Type) -> Object:
    """Take the nulls out of the object, in place, and return it."""
    for path, last in _paths.get(type_) or paths(type_):
        held: Any = obj
        for name in path:
            held = held.get(name) or {}
        if held.get(last, ()) is None:
            del held[last]
    return obj
