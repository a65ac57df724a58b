"""Forget what was worked out for the types of a custom resource that is no longer served."""

from __future__ import annotations

from pybernetes.api.apply import created_fields, zero_values
from pybernetes.api.schema import Type


def forget(type_: Type) -> None:
    """Drop a type and all that are inside of it; built-in ones, which have names, stay."""
    waiting, seen = [type_], {id(type_)}
    while waiting:
        current = waiting.pop()
        for cache in (created_fields.WALKS, created_fields.CREATED, zero_values.ZEROS, zero_values.HELD):
            cache.pop(current, None)
        inside = [*current.fields.values()] if current.kind == "struct" else []
        if current.item is not None:
            inside.append(current.item)
        for child in inside:
            if not child.name and id(child) not in seen:
                seen.add(id(child))
                waiting.append(child)
