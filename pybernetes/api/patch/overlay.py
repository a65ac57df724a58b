"""Lays one object over another: like a merge patch, but nulls are values like others."""

from __future__ import annotations

from pybernetes.api.resource import Object


def overlaid(base: Object, over: Object) -> Object:
    """Return an object overlaid with another one: objects are merged, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        before = result.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        result[key] = overlaid(before or {}, value) if both else value
    return result
