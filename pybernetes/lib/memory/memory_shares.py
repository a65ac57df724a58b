"""How much memory work for others may take at a time: each says beforehand how much it will be, and waits for its turn.

One owner never has more than his share, however much he asks for, so that others find some. What is larger than that is
done alone.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple


class NoRoom(Exception):
    """The owner waits for too much already."""


class _Waiting(NamedTuple):
    size: int
    granted: asyncio.Future[None]


class MemoryShares:
    """Bytes that are shared out: ``most`` to all together, ``share`` to one owner, who may wait for ``waiting`` more.

    ``room`` is what there is beyond what is shared: what is larger can not be done, not even alone.
    """

    def __init__(self, most: int, share: int, waiting: int, room: int = sys.maxsize) -> None:
        self.most, self.share, self.waiting, self.room = most, share, waiting, room
        self.taken = 0
        self._taken_by: Counter[str] = Counter()
        self._asked_by: Counter[str] = Counter()
        # Owners take turns.
        self._queues: OrderedDict[str, deque[_Waiting]] = OrderedDict()

    @asynccontextmanager
    async def take(self, owner: str, size: int) -> AsyncIterator[None]:
        """Wait until there is so much for an owner, and hold it; NoRoom if he waits for too much already."""
        if self._asked_by[owner] + size > self.waiting and self._asked_by[owner]:
            raise NoRoom
        self._asked_by[owner] += size
        try:
            await self._granted(owner, size)
            try:
                yield
            finally:
                self._take(owner, -size)
                self._go_on()
        finally:
            self._asked_by[owner] -= size
            if not self._asked_by[owner]:
                del self._asked_by[owner]

    async def _granted(self, owner: str, size: int) -> None:
        if not self._queues and self._fits(owner, size):
            self._take(owner, size)
            return
        waiting = _Waiting(size, asyncio.get_running_loop().create_future())
        self._queues.setdefault(owner, deque()).append(waiting)
        self._go_on()
        try:
            await waiting.granted
        except asyncio.CancelledError:
            if waiting.granted.done() and not waiting.granted.cancelled():
                self._take(owner, -size)
            else:
                self._leave(owner, waiting)
            self._go_on()
            raise

    def _fits(self, owner: str, size: int) -> bool:
        own = self._taken_by[owner]
        return (not own or own + size <= self.share) and (not self.taken or self.taken + size <= self.most)

    def _take(self, owner: str, size: int) -> None:
        self.taken += size
        self._taken_by[owner] += size
        if not self._taken_by[owner]:
            del self._taken_by[owner]

    def _leave(self, owner: str, waiting: _Waiting) -> None:
        queue = self._queues[owner]
        queue.remove(waiting)
        if not queue:
            del self._queues[owner]

    def _go_on(self) -> None:
        """Let those go on for whom there is room: of each owner who waits the first, one owner after the other."""
        for owner in list(self._queues):
            waiting = self._queues[owner][0]
            if self._fits(owner, waiting.size):
                self._leave(owner, waiting)
                if owner in self._queues:
                    self._queues.move_to_end(owner)
                self._take(owner, waiting.size)
                waiting.granted.set_result(None)
