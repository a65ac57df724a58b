"""Lets in who knocks at a listening socket, a few in a turn of the event loop.

Event loops let in all who have come before anybody else has a turn: a thousand who connect at once, each of whom costs a tenth
of a millisecond.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

log = logging.getLogger(__name__)
# How many are let in in a turn, and how long nobody is when there are no descriptors or no memory left.
_AT_ONCE, _REST_SECONDS = 16, 1.0
# How many may wait to be let in.
_BACKLOG = 1024


class Acceptor:
    """Gives each connection of a listening socket a protocol of its own, until it is closed."""

    def __init__(self, listening: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        self._listening, self._protocol = listening, protocol
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._resting: asyncio.TimerHandle | None = None
        listening.setblocking(False)
        listening.listen(_BACKLOG)
        self._loop.add_reader(listening.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, _ = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                log.error("nobody is let in for %g s: %s", _REST_SECONDS, error)
                self._loop.remove_reader(self._listening.fileno())
                self._resting = self._loop.call_later(_REST_SECONDS, self._go_on)
                return
            task = self._loop.create_task(self._open(connection))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    def _go_on(self) -> None:
        self._resting = None
        self._loop.add_reader(self._listening.fileno(), self._accept)

    async def _open(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._protocol, connection)
        except OSError as error:  # it is gone already
            log.debug("a connection could not be served: %s", error)
            connection.close()

    async def close(self) -> None:
        """Let nobody in any more. Who was let in before has a protocol then, which may serve or drop them."""
        if self._listening.fileno() < 0:
            return
        if self._resting is not None:
            self._resting.cancel()
        self._loop.remove_reader(self._listening.fileno())
        self._listening.close()
        if self._opening:
            await asyncio.wait(self._opening)
