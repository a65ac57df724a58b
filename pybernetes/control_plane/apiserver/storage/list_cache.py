"""Assembled lists, kept as bytes until something in them changes."""

from __future__ import annotations

from pybernetes.lib.memory.forgetting import on_forget

# Assembled lists are kept while nothing below their prefix changes, up to this size together.
_CACHE_BYTES = 48 << 20
# What a list takes beside its items: its key, its place in the table.
_ENTRY_BYTES = 400


class ListCache:
    """The joined items of lists that were asked for lately."""

    def __init__(self, most_bytes: int = _CACHE_BYTES) -> None:
        self._entries: dict[tuple[str, str, int], tuple[int, bytes]] = {}
        self._size, self._most_bytes = 0, most_bytes
        on_forget(self.clear)

    @classmethod
    def within(cls, room: int) -> ListCache:
        """Return a cache for a server that has so much memory for all that clients ask for."""
        return cls(min(_CACHE_BYTES, room // 16))

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, form: str, prefix: str, limit: int, changed: int) -> bytes | None:
        """Return the first ``limit`` items (0: all) of a prefix as of its last change, or None.

        ``form`` is how the kind shows them.
        """
        entry = self._entries.get((form, prefix, limit))
        return entry[1] if entry is not None and entry[0] == changed else None

    def put(self, form: str, prefix: str, limit: int, changed: int, items: bytes) -> None:
        """Keep the items, dropping the oldest when there is too much."""
        self._drop((form, prefix, limit))
        self._size += len(items) + _ENTRY_BYTES
        self._entries[form, prefix, limit] = (changed, items)
        while self._size > self._most_bytes and len(self._entries) > 1:
            self._drop(next(iter(self._entries)))

    def forget(self, form: str) -> None:
        """Drop the lists of a kind that is served no longer."""
        for key in [key for key in self._entries if key[0] == form]:
            self._drop(key)

    def clear(self) -> None:
        """Drop all lists."""
        self._entries.clear()
        self._size = 0

    def _drop(self, key: tuple[str, str, int]) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= len(entry[1]) + _ENTRY_BYTES
