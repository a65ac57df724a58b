"""Values that know that they are large: from how many bytes they were read."""

from __future__ import annotations

from typing import Any


class Large(dict[str, Any]):
    """An object that was read from many bytes."""

    __slots__ = ("__weakref__", "size")

    size: int


def size_of(value: object) -> int:
    """Return from how many bytes a value was read, if those were many; 0 otherwise."""
    return getattr(value, "size", 0)
