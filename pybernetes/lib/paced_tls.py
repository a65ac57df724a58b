"""TLS that takes some records at a time: the client chooses how small they are, and each costs as much as a large one.

An event loop decrypts all that has come of a connection before anybody else has a turn, which can be megabytes: of records with one
byte each that took half a second. When those of a turn are used up, the loop takes what was read so far for all that there is, and
is told to go on in its next turn.

Some records have nothing to read in them: a change of keys costs a derivation, and OpenSSL goes through as many as there are without
coming back. So it is handed what has come in portions, small ones as long as they yield nothing, and one of these in a turn.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, Protocol

# Records of a turn: up to 512 kB.
RECORDS = 32
# The most that one has. Event loops ask for sixteen times as much, which is not read but has to be allocated.
RECORD_BYTES = 16 * 1024
# Bytes of a portion: a whole record; or after one that yielded nothing, some 75 of the smallest.
WHOLE, SMALL = 16 * 1024 + 256, 2 * 1024
_MOST_PORTIONS = 64  # of a handshake or a goodbye, which are not paced


class Paced(Protocol):
    """A connection, as its TLS sees it."""

    @property
    def transport(self) -> asyncio.Transport:
        """What is told to stop reading and to go on."""

    @property
    def is_paused(self) -> bool:
        """Whether nothing is read for now, for reasons of its own."""

    @property
    def is_upgraded(self) -> bool:
        """Whether what it was upgraded to says when it is read: nothing is paced from then on."""


class PacedObject(ssl.SSLObject):
    """The TLS of one connection."""

    _connection: Paced | None = None
    _left = RECORDS
    _is_resting = False
    _portion = WHOLE
    # What has come, and what OpenSSL knows of it.
    arrived: ssl.MemoryBIO
    handed: ssl.MemoryBIO

    def pace(self, connection: Paced | None) -> None:
        """Read for a connection from now on; for none when it has ended: they would know one another for ever."""
        self._connection = connection

    def read(self, len: int = 1024, buffer: Any = None) -> Any:
        """Return what a record has; SSLWantReadError when those of a turn are used up, or none has come."""
        arrived, handed, read = self.arrived, self.handed, self._sslobj.read  # type: ignore[attr-defined]
        waiting, len = arrived.pending, min(len, RECORD_BYTES)
        if waiting <= WHOLE and not handed.pending:
            # All that has come at once, as nearly always: what is left of it is counted, not what has been read before.
            handed.write(arrived.read())
            self._left = RECORDS
            return read(len) if buffer is None else read(len, buffer)
        self._left -= 1
        if self._left < 0 and self._connection is not None and self._rest(self._connection):
            raise ssl.SSLWantReadError
        is_fed = waiting > 0 and not handed.pending
        if is_fed:
            handed.write(arrived.read(self._portion))
        while True:
            try:
                data = read(len) if buffer is None else read(len, buffer)
            except ssl.SSLWantReadError:
                if not arrived.pending:
                    raise
                if is_fed:
                    self._portion = SMALL
                    if self._connection is not None and self._rest(self._connection):
                        raise
            else:
                self._portion = WHOLE
                return data
            is_fed = True
            handed.write(arrived.read(self._portion))

    def pending(self) -> int:
        """Return how much there is to read without waiting for more to come."""
        return super().pending() or self.handed.pending

    def do_handshake(self) -> None:
        """Shake hands as far as what has come allows."""
        self._by_portions(super().do_handshake)

    def unwrap(self) -> Any:
        """Say goodbye as far as what has come allows."""
        return self._by_portions(super().unwrap)

    def _by_portions(self, act: Callable[[], Any]) -> Any:
        for _ in range(_MOST_PORTIONS):
            self.handed.write(self.arrived.read(WHOLE))
            try:
                return act()
            except ssl.SSLWantReadError:
                if not self.arrived.pending:
                    raise
        raise ssl.SSLError("more has come than a handshake can have")

    def _rest(self, connection: Paced) -> bool:
        """Have the rest read in the next turn of the loop; tell whether that will be."""
        transport = connection.transport
        if transport.is_closing() or connection.is_upgraded:
            return False
        if not self._is_resting:
            self._is_resting = True
            transport.pause_reading()
            asyncio.get_running_loop().call_soon(self._go_on)
        return True

    def _go_on(self) -> None:
        self._is_resting, self._left, connection = False, RECORDS, self._connection
        if connection is not None and not connection.is_paused and not connection.transport.is_closing():
            connection.transport.resume_reading()
