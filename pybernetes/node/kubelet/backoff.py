"""How long to wait before something that failed is tried again: the delay doubles each time, up to a limit."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(slots=True)
class _Entry:
    delay: float
    updated: float


class Backoff:
    """Delays by key. A key that had no failure for twice the longest delay starts again at the first delay."""

    def __init__(self, first: float = 10.0, longest: float = 300.0) -> None:
        self.first, self.longest = first, longest
        self._entries: dict[Hashable, _Entry] = {}

    def remaining(self, key: Hashable, ended: float, now: float) -> float:
        """Return how long something that ended at a moment still has to wait; 0 if it may be tried now."""
        entry = self._entries.get(key)
        if entry is None or self._expired(entry, ended):
            return 0.0
        # Something that ended in the future ended before the clock was set back.
        return max(0.0, entry.delay - max(0.0, now - ended))

    def delay(self, key: Hashable) -> float:
        """Return the whole current delay."""
        entry = self._entries.get(key)
        return entry.delay if entry is not None else 0.0

    def next(self, key: Hashable, ended: float, now: float) -> None:
        """Record another attempt."""
        entry = self._entries.get(key)
        if entry is None or self._expired(entry, ended):
            self._entries[key] = _Entry(min(self.first, self.longest), now)
        else:
            entry.delay, entry.updated = min(entry.delay * 2, self.longest), now

    def _expired(self, entry: _Entry, ended: float) -> bool:
        return ended - entry.updated > 2 * self.longest

    def forget(self, prefix: str) -> None:
        """Forget everything about a pod: keys are tuples that begin with its uid."""
        self._entries = {
            key: entry
            for key, entry in self._entries.items()
            if not (isinstance(key, tuple) and key and key[0] == prefix)
        }


def duration_text(seconds: float) -> str:
    """Return a duration in whole seconds as Go prints it: ``1m20s``."""
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"
