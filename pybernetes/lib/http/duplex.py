"""A connection that carries bytes both ways: what both sides of an upgrade are, and the body of an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pybernetes.lib.event_loop.shared_turns import pieces, turns

# What nobody reads is not read from the network either.
_UNREAD_LIMIT = 1 << 16
# So many parts are made one: the other side chooses how small they are, and each takes far more memory than its few bytes.
_MOST_LOOSE = 256


class Duplex(asyncio.Protocol):
    """A protocol whose bytes are awaited: ``read`` what came, ``write`` and ``drain`` what is to go out."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self.lost = False
        self.error: Exception | None = None
        self._parts: list[bytes] = []
        self._loose = 0  # of the parts, those at the end that were not made one
        self._unread = 0
        self._reader: asyncio.Future[None] | None = None
        self._writers: list[asyncio.Future[None]] = []  # each who writes waits for itself
        self._paused = False

    @property
    def at_end(self) -> bool:
        """Whether nothing more will come."""
        return self.lost

    async def read(self) -> bytes:
        """Return what came since the last call; nothing at all at the end."""
        while not self._parts:
            if self.at_end:
                return b""
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        self._loose = 0
        was_paused, self._unread = self.has_much_unread, 0
        if was_paused:
            self._resume_reading()
        return data

    @property
    def has_much_unread(self) -> bool:
        """Whether so much waits for ``read`` that no more is taken from the network."""
        return self._unread > _UNREAD_LIMIT

    def write(self, data: bytes) -> None:
        """Queue bytes."""
        self.transport.write(data)

    @property
    def is_full(self) -> bool:
        """Whether who writes has to wait."""
        return self._paused and not self.lost

    async def drain(self) -> None:
        """Wait until what is queued is not too much."""
        while self.is_full:
            waiting = asyncio.get_running_loop().create_future()
            self._writers.append(waiting)
            await waiting

    def close(self) -> None:
        """End the connection once what is queued is sent."""
        if self.transport is not None:
            self.transport.close()

    def _take(self, data: bytes) -> None:
        """Keep bytes for ``read``."""
        self._keep(data)
        self._unread += len(data)
        if self.has_much_unread:
            self.transport.pause_reading()
        self._wake()

    def _resume_reading(self) -> None:
        """Have the loop read again."""
        if not self.lost and not self.transport.is_closing():
            self.transport.resume_reading()

    def _keep(self, data: bytes) -> None:
        """Keep bytes, in no more parts than they are worth."""
        self._parts.append(data)
        self._loose += 1
        if self._loose == _MOST_LOOSE:
            self._parts[-_MOST_LOOSE:] = [b"".join(self._parts[-_MOST_LOOSE:])]
            self._loose = 0

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    # -- what the transport calls ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self._take(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        self.error = self.error or error
        self._wake()
        self._resume()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._resume()

    def _resume(self) -> None:
        waiting, self._writers = self._writers, []
        for writer in waiting:
            if not writer.done():
                writer.set_result(None)


Wait = Callable[[Duplex], Awaitable[None]]


async def carry(source: Duplex, target: Duplex, wait: Wait = Duplex.drain) -> None:
    """Carry bytes one way until there are no more; ``wait`` until the target takes them."""
    try:
        while data := await source.read():
            for piece in pieces(data):
                await turns.mine()
                target.write(piece)
                await wait(target)
    except OSError:
        pass  # the other direction notices as well


async def first_of(*directions: Awaitable[None], grace: float = 0.0) -> None:
    """Run directions until one of them ends; the others have some time for what they still carry."""
    tasks = [asyncio.ensure_future(direction) for direction in directions]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if grace:
            await asyncio.wait(tasks, timeout=grace)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def splice(left: Duplex, right: Duplex, grace: float = 0.0, wait: Wait = Duplex.drain) -> None:
    """Join two connections until one of them ends, then end both."""
    try:
        await first_of(carry(left, right, wait), carry(right, left, wait), grace=grace)
    finally:
        left.close()
        right.close()
