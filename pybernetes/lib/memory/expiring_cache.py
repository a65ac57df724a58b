"""Answers of others, remembered for a while and within a bound of bytes: each may be as long as whoever gave it likes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")
# What an entry takes beside what its owner counts.
_ENTRY_BYTES = 300
# No entry may take more than this part of all; what is larger is not kept.
_PART = 32


class ExpiringCache(Generic[Value]):
    """Values by keys, each with a time of its own; the one that came first goes when there are too many bytes."""

    def __init__(self, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most_bytes, clock
        self._entries: dict[bytes, tuple[Value, float, int]] = {}
        self.bytes = 0

    def get(self, key: bytes) -> tuple[Value] | None:
        """Return the value, in a tuple because it may be None; None if it is not known, or was too long ago."""
        entry = self._entries.get(key)
        return (entry[0],) if entry is not None and self._clock() < entry[1] else None

    def put(self, key: bytes, value: Value, size: int, seconds: float) -> None:
        """Remember a value that takes so many bytes."""
        size += len(key) + _ENTRY_BYTES
        self._drop(key)
        if size * _PART > self._most:
            return
        self._entries[key] = (value, self._clock() + seconds, size)
        self.bytes += size
        while self.bytes > self._most:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: bytes) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.bytes -= entry[2]
