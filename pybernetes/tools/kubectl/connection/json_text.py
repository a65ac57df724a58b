"""JSON in and out with what Python has: the faster library takes longer to import than a command needs for its JSON."""

from __future__ import annotations

import json

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_LARGE = 1_000_000


def loads(raw: bytes | str) -> Any:
    """Return the value of a JSON text; large ones are read by the faster library."""
    if len(raw) > _LARGE:
        import orjson

        return orjson.loads(raw)
    return json.loads(raw)


def dumps(value: Any) -> bytes:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
