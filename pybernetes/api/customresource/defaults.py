"""Defaults of a structural schema."""

from __future__ import annotations

import copy
from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.api.resource import Object

_MOST_BYTES = 3 << 20  # no object is stored that has more


def has_defaults(schema: Any) -> bool:
    """Return whether there is a default anywhere in a schema; most have none, and then nobody has to look."""
    if type(schema) is not dict:
        return False
    if schema.get("default") is not None:
        return True
    if any(has_defaults(child) for child in (schema.get("properties") or {}).values()):
        return True
    return has_defaults(schema.get("items")) or has_defaults(schema.get("additionalProperties"))


class Room:
    """How many bytes of defaults an object has room for: a default is short for the client, and repeated for each item."""

    def __init__(self, left: int = _MOST_BYTES) -> None:
        self._left = left
        self._sizes: dict[int, int] = {}  # of defaults, by identity: they outlive this

    def copy(self, default: Any) -> Any:
        """Return a copy of a default; StatusError if there is no room for it."""
        size = self._sizes.get(id(default))
        if size is None:
            size = self._sizes[id(default)] = len(orjson.dumps(default))
        self._left -= size
        if self._left < 0:
            raise errors.too_large(f"limit is {_MOST_BYTES}")
        return copy.deepcopy(default)


class Unbounded:
    """Room without end, for what was stored and is read: who changed a definition must find all of its objects."""

    copy = staticmethod(copy.deepcopy)


def apply(schema: Object | None, value: Any, room: Room | Unbounded) -> None:
    """Complete a value in place: what is missing, or null where it may not be, gets its default."""
    if not schema:
        return
    if type(value) is dict:
        for key, child in (schema.get("properties") or {}).items():
            if key not in value or (value[key] is None and not child.get("nullable")):
                default = child.get("default")
                if default is None:
                    continue
                value[key] = room.copy(default)
            if type(value[key]) in (dict, list):
                apply(child, value[key], room)
        additional = schema.get("additionalProperties")
        if type(additional) is dict:
            known = schema.get("properties") or {}
            default = additional.get("default")
            for key, item in value.items():
                if key in known:
                    continue
                if item is None and not additional.get("nullable") and default is not None:
                    value[key] = item = room.copy(default)
                apply(additional, item, room)
    elif type(value) is list:
        items = schema.get("items") or {}
        default = items.get("default")
        for index, item in enumerate(value):
            if item is None and not items.get("nullable") and default is not None:
                value[index] = item = room.copy(default)
            apply(items, item, room)
