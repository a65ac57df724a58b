"""Decoded objects that are held for a moment: what one reader of a change has decoded is still there for the next.

Records hold what was decoded of them weakly. Many changes are told in one go to one reader after the other: as many objects stay
as such batches have, counted in bytes, so that a few large ones are not kept for as long as many small ones. Where nobody
reads twice few stay: what a request decodes then takes the memory of the last one, which is in the processor's cache.
"""

from __future__ import annotations

from pybernetes.control_plane.apiserver.storage.view import SharedObject
from pybernetes.lib.memory.forgetting import on_forget

_MOST_BYTES = 256 << 10  # as JSON, in either generation
_LEAST_SHARE = 1 / 16
_SHRINKING = 7 / 8


class RecentlyDecoded:
    """Two generations: when the young one is full, it takes the place of the old one.

    Lists are decoded beside the event loop, too. A lock would cost more than the worst that two threads can do here, which is
    to count a few bytes wrongly until the next generation begins.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._room = most_bytes * _LEAST_SHARE
        self.forget()
        on_forget(self.forget)

    def forget(self) -> None:
        """Forget all objects."""
        self._young: list[SharedObject] = []
        self._old: list[SharedObject] = []
        self._bytes = 0
        self._has_lost = False

    def hold(self, obj: SharedObject, size: int, again: bool = False) -> None:
        """Hold an object that was decoded from so many bytes, ``again`` if it had been let go too early."""
        if again:
            self._room, self._has_lost = self._most_bytes, True
        self._young.append(obj)
        self._bytes += size
        if self._bytes > self._room:
            if not self._has_lost:
                self._room = max(self._room * _SHRINKING, self._most_bytes * _LEAST_SHARE)
            self._old, self._young, self._bytes, self._has_lost = self._young, [], 0, False
