"""Decoded objects that are held for a moment: what one reader of a change has decoded is still there for the next.

Records hold what was decoded of them weakly. Many changes are told in one go to one reader after the other: as many objects stay
as the largest such batches have, counted in bytes, so that a few large ones are not kept for as long as many small ones.
"""

from __future__ import annotations

from pybernetes.control_plane.apiserver.storage.view import SharedObject
from pybernetes.lib.memory.forgetting import on_forget

_MOST_BYTES = 256 << 10  # as JSON, in either generation


class RecentlyDecoded:
    """Two generations: when the young one is full, it takes the place of the old one.

    Lists are decoded beside the event loop, too. A lock would cost more than the worst that two threads can do here, which is
    to count a few bytes wrongly until the next generation begins.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self.forget()
        on_forget(self.forget)

    def forget(self) -> None:
        """Forget all objects."""
        self._young: list[SharedObject] = []
        self._old: list[SharedObject] = []
        self._bytes = 0

    def hold(self, obj: SharedObject, size: int) -> None:
        """Hold an object that was decoded from so many bytes."""
        self._young.append(obj)
        self._bytes += size
        if self._bytes > self._most_bytes:
            self._old, self._young, self._bytes = self._young, [], 0
