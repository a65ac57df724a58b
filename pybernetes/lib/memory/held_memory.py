"""Memory that others make a program hold for as long as they like: so much of each owner, so much of all."""

from __future__ import annotations

from collections import Counter

# So much each owner may hold whatever the others do.
FREE = 256 * 1024


class HeldMemory:
    """Bytes that are held: ``most`` by all together, ``share`` by one owner.

    Nobody waits: what is held may be held for hours. Owners who hold little get more even when the others have all there is.
    """

    def __init__(self, most: int, share: int) -> None:
        self.most, self.share = most, share
        self.held = 0
        self._held_by: Counter[str] = Counter()

    @classmethod
    def within(cls, room: int, most: int) -> HeldMemory:
        """Return one that gives at most an eighth of a room, and a quarter of that to one owner."""
        most = min(most, room // 8)
        return cls(most, most // 4)

    def held_by(self, owner: str) -> int:
        """Return the bytes that an owner holds."""
        return self._held_by[owner]

    def fits(self, owner: str, size: int) -> bool:
        """Return whether an owner may hold so much more."""
        own = self._held_by[owner] + size
        return own <= FREE or (own <= self.share and self.held + size <= self.most)

    def hold(self, owner: str, size: int) -> None:
        """Note that an owner holds so much more, until it is released."""
        self.held += size
        self._held_by[owner] += size

    def release(self, owner: str, size: int) -> None:
        """Note that an owner let go of what it held."""
        self.held -= size
        self._held_by[owner] -= size
        if not self._held_by[owner]:
            del self._held_by[owner]
