"""Turns of the event loop that are shared: what many connections have to send at once is not all sent in one turn.

A piece takes a fraction of a millisecond; but hundreds of tunnels may have one each, and the loop looks who else has come only when
all that is ready is done.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator

# What a piece has at most, and how many a turn has.
PIECE = 1 << 16
_PIECES = 24


class SharedTurns:
    """The turns of the loop that runs: ``await turns.mine()`` before each piece."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._left = _PIECES
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def mine(self) -> None:
        """Return when there is room for a piece: at once, or in a later turn, in the order in which they came."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._left = loop, _PIECES
            self._waiting.clear()
            loop.call_soon(self._next)
        if self._left and not self._waiting:
            self._left -= 1
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next(self) -> None:
        """Give out the next turn; rest when nobody had a piece in this one."""
        if self._left == _PIECES or self._loop is None:
            self._loop = None
            return
        self._left = _PIECES
        while self._left and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._left -= 1
        self._loop.call_soon(self._next)


turns = SharedTurns()


def pieces(data: bytes) -> Iterator[bytes]:
    """Cut data into pieces."""
    if len(data) <= PIECE:
        yield data
        return
    for start in range(0, len(data), PIECE):
        yield data[start : start + PIECE]
