"""TLS that takes some records at a time: the other side chooses how small they are, and each costs as much as a large one.

An event loop decrypts all that has come of a connection before anybody else has a turn, which can be megabytes: of records with one
byte each that took half a second. Some records have nothing to read in them: a change of keys costs a derivation, and OpenSSL goes
through as many as there are without coming back. So what has come is counted in records, whatever is in them, and OpenSSL is
handed so many in a turn of the loop. When they are used up, the loop takes what was read so far for all that there is, and is
told to go on in its next turn; also when the connection is HTTP no longer, or is about to end. While it ends nobody holds the other side
back: event loops read on, to throw it away. Who sends more then than could be on the way is cut off.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, Protocol

from pybernetes.lib.tls import paced_handshakes
from pybernetes.lib.tls.paced_handshakes import turns

# Records of a turn: up to 256 kB. When those of all connections are as many as this, each gets few for the rest of the turn.
RECORDS = 16
_OF_ALL, _FEW = 128, 1
# The most that one has. Event loops ask for sixteen times as much, which is not read but has to be allocated.
RECORD_BYTES = 16 * 1024
_HEAD = 5  # a type, a version, and how long the rest is
# What may wait to be thrown away: as much as kernels keep of a connection.
_MOST_AFTER_CLOSE = 4 << 20
_MOST_TURNS = 4  # of a handshake, which is not paced: far more records than one has


class Paced(Protocol):
    """A connection, as its TLS sees it."""

    @property
    def transport(self) -> asyncio.Transport:
        """What is told to stop reading and to go on."""


class _Turn:
    """The turn of a loop, and how many records have been read in it."""

    loop: asyncio.AbstractEventLoop | None = None
    records = 0

    def portion(self) -> int:
        """Return how many records a connection may read."""
        loop = asyncio.get_running_loop()
        if self.loop is not loop:
            self.loop, self.records = loop, 0
            loop.call_soon(self.end)
        return RECORDS if self.records < _OF_ALL else _FEW

    def end(self) -> None:
        """Count anew from the next record on."""
        self.loop = None


_turn = _Turn()


class PacedObject(ssl.SSLObject):
    """The TLS of one connection."""

    _connection: Paced | None = None
    _left = RECORDS
    _is_resting = False
    # Whether all that has come was handed, in whole records.
    _is_even = True
    # What has come and was not handed yet, how far that was read, and how much of the last record is still to come.
    _data = b""
    _at = 0
    _open = 0
    # What has come, and what OpenSSL knows of it; and what reads a record of that.
    arrived: ssl.MemoryBIO
    handed: ssl.MemoryBIO
    decrypt: Callable[..., Any]
    # What goes on with the handshake, where handshakes take turns; and whether this one has to wait, or has its turn.
    _go_on_shaking: Callable[[], object] | None = None
    _waits = _is_due = False

    def pace(self, connection: Paced | None) -> None:
        """Read for a connection from now on; for none when it has ended: they would know one another for ever."""
        self._connection = connection

    def read(self, len: int = 1024, buffer: Any = None) -> Any:
        """Return what a record has; SSLWantReadError when those of a turn are used up, or none has come."""
        if not self.handed.pending:
            self._hand()
        if len > RECORD_BYTES:
            len = RECORD_BYTES
        while True:
            try:
                return self.decrypt(len) if buffer is None else self.decrypt(len, buffer)
            except ssl.SSLWantReadError:
                if not self._hand():
                    raise

    def given(self) -> bytes | None:
        """Return what has come, as far as it may be read in this turn; None if there is no more.

        For who reads although the loop does not, or not any more.
        """
        parts = []
        try:
            while part := self.read(RECORD_BYTES):
                parts.append(part)
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass
        return b"".join(parts) if parts or self._is_resting else None

    def pending(self) -> int:
        """Return how much there is to read without waiting for more to come."""
        return self._sslobj.pending() or self.handed.pending or len(self._data) - self._at  # type: ignore[attr-defined]

    def do_handshake(self) -> None:
        """Shake hands as far as what has come allows, in the turn of this connection."""
        if self._go_on_shaking is None or not self.arrived.pending:
            self._shake()
            return
        if not turns.begin() or (turns.is_crowded and not self._is_due):
            if not self._waits:
                self._waits = True
                turns.wait(self._take_turn)
            raise ssl.SSLWantReadError
        try:
            self._shake()
        finally:
            turns.end()

    def _take_turn(self) -> None:
        self._waits, self._is_due = False, True
        if self._go_on_shaking is not None:
            self._go_on_shaking()
        self._is_due = False

    def _shake(self) -> None:
        for _ in range(_MOST_TURNS):
            self._hand()
            try:
                return super().do_handshake()
            except ssl.SSLWantReadError:
                if not self.arrived.pending and len(self._data) - self._at < _HEAD:
                    raise
        raise ssl.SSLError("more has come than a handshake can have")

    def unwrap(self) -> Any:
        """Say goodbye as far as what has come allows."""
        self._hand()
        return super().unwrap()

    def _hand(self) -> bool:
        """Hand OpenSSL the records that may be read in this turn; tell whether there were any."""
        arrived = self.arrived
        if self._is_even:
            if not arrived.pending:
                return False
            data, at = arrived.read(), 0
            if len(data) > _HEAD and len(data) == _HEAD + (data[3] << 8 | data[4]):
                self.handed.write(data)  # one whole record, as nearly always
                return True
            self._left = _turn.portion()
        else:
            data, at = self._data, self._at
            if arrived.pending and len(data) - at < _HEAD:
                data, at = data[at:] + arrived.read(), 0
        size, end = len(data), at + self._open
        left = before = self._left if self._connection is not None else RECORDS
        while left and end + _HEAD <= size:
            end += _HEAD + (data[end + 3] << 8 | data[end + 4])
            left -= 1
        _turn.records += before - left
        self._left, self._open, end = left, max(end - size, 0), min(end, size)
        if end > at:
            self.handed.write(data if (at, end) == (0, size) else data[at:end])
        elif not left and (size - end >= _HEAD or arrived.pending):
            self._rest()
        self._is_even = end == size and not self._open and not self._is_resting
        self._data, self._at = (b"", 0) if end == size else (data, end)
        return end > at

    def _rest(self) -> None:
        """Have the rest read in the next turn of the loop."""
        if self._connection is None:
            return
        transport = self._connection.transport
        if transport.is_closing() and self.arrived.pending + len(self._data) > _MOST_AFTER_CLOSE:
            raise ssl.SSLError("more comes after the end of the connection than was on the way")
        if self._is_resting:
            return
        self._is_resting = True
        asyncio.get_running_loop().call_soon(self._go_on)
        # Reading that was paused and goes on is taken up by the loop in its next turn. Who pauses it for reasons of their
        # own has it read on later.
        if not transport.is_closing() and transport.is_reading():
            transport.pause_reading()
            transport.resume_reading()

    def _go_on(self) -> None:
        self._is_resting, self._left = False, _turn.portion()


class PacedContext(ssl.SSLContext):
    """A context whose connections are paced once they say whom they read for."""

    sslobject_class = PacedObject

    def wrap_bio(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *args: Any, **kwargs: Any) -> Any:
        """Return the object of a connection, which is handed what has come bit by bit."""
        handed = ssl.MemoryBIO()
        wrapped: Any = super().wrap_bio(handed, outgoing, *args, **kwargs)
        wrapped.arrived, wrapped.handed = incoming, handed
        # What is called for every record: ssl would do so in calls of its own.
        wrapped.write, wrapped.decrypt = wrapped._sslobj.write, wrapped._sslobj.read
        wrapped._go_on_shaking = paced_handshakes.making
        return wrapped
