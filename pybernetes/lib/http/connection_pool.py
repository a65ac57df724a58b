"""Connections to one server that wait for the next request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pybernetes.lib.clock import Clock
from pybernetes.lib.http.client_connection import ClientConnection


class ConnectionPool:
    """Keep connections for some ``seconds``, and at most so many of them; call ``on_empty`` when the last is gone."""

    def __init__(
        self,
        *,
        seconds: float,
        most: int,
        clock: Clock | None = None,
        on_empty: Callable[[ConnectionPool], object] | None = None,
    ) -> None:
        self._seconds, self._most, self._on_empty = seconds, most, on_empty
        self._clock = clock or Clock()
        self._idle: list[ClientConnection] = []
        self._open: set[ClientConnection] = set()
        self._sweep: asyncio.TimerHandle | None = None
        self.closed = False

    def add(self, connection: ClientConnection) -> None:
        """Note a connection that was just made, so that ``close`` ends it."""
        self._open.add(connection)
        connection.on_lost = self._lost

    def _lost(self, connection: ClientConnection) -> None:
        self._open.discard(connection)
        if not self._open and self._on_empty is not None:
            self._end_sweep()
            self._on_empty(self)

    def take(self) -> ClientConnection | None:
        """Return a connection that can be used, if one waits."""
        now = self._clock.monotonic()
        while self._idle:
            connection = self._idle.pop()
            if not connection.lost and not connection.transport.is_closing():
                # Servers close idle connections; one that is about to be closed must not be used.
                if now - connection.idle_since < self._seconds:
                    return connection
                connection.close()
        return None

    def give_back(self, connection: ClientConnection) -> None:
        """Keep a connection for the next request, or end it if it cannot have one."""
        if not connection.reusable or self.closed or len(self._idle) >= self._most:
            connection.close()
            return
        connection.idle_since = self._clock.monotonic()
        self._idle.append(connection)
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(self._seconds, self._close_idle)

    def _close_idle(self) -> None:
        """Let go of connections that nobody has used for a while."""
        self._sweep = None
        limit = self._clock.monotonic() - self._seconds
        for connection in self._idle:
            if connection.idle_since <= limit:
                connection.close()
        self._idle = [connection for connection in self._idle if connection.idle_since > limit]
        if self._idle:
            self._sweep = asyncio.get_running_loop().call_later(self._seconds, self._close_idle)

    def forget_idle(self) -> None:
        """End the connections that wait."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    def close(self) -> None:
        """End every connection, in use or not."""
        self.closed = True
        self._end_sweep()
        for connection in list(self._open):
            connection.close()

    def _end_sweep(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
