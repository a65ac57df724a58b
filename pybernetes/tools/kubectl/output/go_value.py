"""Values as Go prints them."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def go_value(value: Any, inner: Callable[[Any], str]) -> str:
    """Return a value as Go prints it; ``inner`` does so for what is in lists and maps."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + " ".join(map(inner, value)) + "]"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{inner(value[key])}" for key in sorted(value)) + "]"
    return str(value)
