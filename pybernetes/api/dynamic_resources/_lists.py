"""Lists with a limit.

Upstream states sizes and uniqueness beside the fields, which complain after everything else: such
complaints go into the list ``late``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

Check = Callable[[Any, Path], None]


def check_items(items: Sequence[Any], limit: int, check: Check, path: Path, late: Errors) -> None:
    """Check each item, or report that there are too many; a limit of 0 means none."""
    if limit and len(items) > limit:
        late.too_many(path, len(items), limit)
        return
    for index, item in enumerate(items):
        check(item, path[index])


def unique(
    items: Sequence[Any], key: Callable[[Any], Any], path: Path, errors: Errors, limit: int = 0
) -> None:
    """Report each item whose key was there before, unless there are too many anyway."""
    seen: list[Any] = []
    for index, item in enumerate(items if not limit or len(items) <= limit else ()):
        value = key(item)
        if value in seen:
            errors.duplicate(path[index], go_format.Struct(item) if isinstance(item, dict) else item)
        seen.append(value)


def check_unique_items(
    items: Sequence[Object], limit: int, name: str, check: Check, path: Path, late: Errors
) -> None:
    """Report each item whose name, a field, was there before; then check each, unless there are too many."""
    unique(items, lambda item: item.get(name, ""), path, late, limit)
    check_items(items, limit, check, path, late)


def unique_names(items: Sequence[Object], path: Path, errors: Errors) -> None:
    """Report each item whose name was there before."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        name = item.get("name", "")
        if name in seen:
            errors.duplicate(path[index], name)
        seen.add(name)


def same(item: Any) -> Any:
    """Return the key of an item that is its own key."""
    return item
