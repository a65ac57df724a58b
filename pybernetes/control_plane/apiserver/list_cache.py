"""Assembled lists, kept as bytes until something in them changes."""

from __future__ import annotations

# Assembled lists are kept while nothing below their prefix changes, up to this size together.
_CACHE_BYTES = 48 << 20


class ListCache:
    """The joined items of lists that were asked for lately."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], tuple[int, bytes]] = {}
        self._size = 0

    def get(self, api_version: str, prefix: str, changed: int) -> bytes | None:
        """The items of a prefix as of its last change, or None."""
        entry = self._entries.get((api_version, prefix))
        return entry[1] if entry is not None and entry[0] == changed else None

    def put(self, api_version: str, prefix: str, changed: int, items: bytes) -> None:
        """Keeps the items, dropping the oldest when there is too much."""
        old = self._entries.pop((api_version, prefix), None)
        self._size += len(items) - (len(old[1]) if old else 0)
        self._entries[api_version, prefix] = (changed, items)
        while self._size > _CACHE_BYTES and len(self._entries) > 1:
            self._size -= len(self._entries.pop(next(iter(self._entries)))[1])
