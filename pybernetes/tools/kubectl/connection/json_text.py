"""JSON in and out with what Python has: the faster library takes longer to import than a command needs for its JSON."""

from __future__ import annotations

import json

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_LARGE = 1_000_000


def loads(raw: bytes | str) -> Any:
    """Return the value of a JSON text; large ones are read by the faster library."""
    mark = b"\\u" if isinstance(raw, bytes) else "\\u"
    if mark in raw:  # type: ignore[operator]
        return _whole(json.loads(raw))
    if len(raw) > _LARGE:
        import orjson

        return orjson.loads(raw)
    return json.loads(raw)


def _whole(value: Any) -> Any:
    """Return a value whose texts can be written again: half of a character becomes the mark of one that is lost."""
    if isinstance(value, str):
        return (
            value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def dumps(value: Any) -> bytes:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
