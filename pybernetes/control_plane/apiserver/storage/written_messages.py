"""The JSON of messages that this server has written a moment ago: they come back from the store, and need not be read again."""

from __future__ import annotations

import threading

_MOST_BYTES = 4 << 20
_json: dict[bytes, bytes] = {}
_lock = threading.Lock()  # large objects are made beside the loop
_bytes = 0


def remember(message: bytes, data: bytes) -> None:
    """Keep the JSON of a message for a while; the oldest go first."""
    global _bytes
    with _lock:
        if message in _json or len(message) + len(data) > _MOST_BYTES:
            return
        _json[message] = data
        _bytes += len(message) + len(data)
        while _bytes > _MOST_BYTES:
            oldest = next(iter(_json))
            _bytes -= len(oldest) + len(_json.pop(oldest))


def json_of(message: bytes) -> bytes | None:
    """Return the JSON of a message, or None if it is not known any more."""
    return _json.get(message)
