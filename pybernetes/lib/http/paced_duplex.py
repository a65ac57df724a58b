"""A connection to a server that somebody else wrote: what it sends is read some at a time, and all of it that came before its end.

An event loop takes megabytes of a connection before anybody else has a turn: a body may be chunks of one byte each, TLS records of
one byte each, or nothing but changes of keys (``paced_tls``). And it throws away what its TLS has not read when the other side
ends the connection, be it that reading was paused or paced: an answer would be cut off. So that is read here.
"""

from __future__ import annotations

import asyncio
import ssl

from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.tls.paced_tls import PacedObject

# How much is read in a turn of the loop without TLS; reads that are smaller do not count.
_TURN_BYTES, _SMALL_BYTES = 1 << 17, 1 << 13
# What waits to be sent before who sends has to wait; TLS would keep half a megabyte.
_WRITE_BYTES = 1 << 16


class PacedDuplex(Duplex):
    """A connection. Subclasses have ``received`` and ``ended`` instead of what transports call."""

    def __init__(self) -> None:
        super().__init__()
        self.ending = False  # whether the other side has ended it, and what came before is still being read
        self._tls: PacedObject | None = None
        self._taken, self._resting, self._reading_on = 0, False, False

    def received(self, data: bytes) -> None:
        """Take what came."""
        self._take(data)

    def ended(self, error: Exception | None) -> None:
        """Note the end, after which nothing comes."""
        super().connection_lost(error)

    def abort(self) -> None:
        """End the connection; what came and was not read yet does not matter any more."""
        self._let_go()
        self.transport.abort()
        if self.ending:  # the transport has told of the end, and does not do so again
            asyncio.get_running_loop().call_soon(self._end, None)

    # -- what the transport calls ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        tls = transport.get_extra_info("ssl_object")
        if isinstance(tls, PacedObject):
            self._tls = tls
            tls.pace(self)
            transport.set_write_buffer_limits(_WRITE_BYTES)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        if self._tls is None and len(data) > _SMALL_BYTES:
            self._pace(len(data))
        self.received(data)

    def connection_lost(self, error: Exception | None) -> None:
        if error is None and self._tls is not None:
            self.ending = True
            if not self._reading_on:
                self._read_on()
        else:
            self._end(error)

    # -- turns -------------------------------------------------------------------------------------------

    def _pace(self, size: int) -> None:
        """Have what has come beside these bytes read in later turns of the loop."""
        if not self._taken:
            asyncio.get_running_loop().call_soon(self._next_turn)
        self._taken += size
        if self._taken >= _TURN_BYTES:
            self._resting = True
            self.transport.pause_reading()

    def _next_turn(self) -> None:
        self._taken = 0
        if self._resting:
            self._resting = False
            if not self.has_much_unread:
                super()._resume_reading()

    def _resume_reading(self) -> None:
        if self._tls is None:
            super()._resume_reading()
        elif not self._reading_on:
            self._read_on()

    def _read_on(self) -> None:
        """Read what TLS has been given, some in each turn; then have the loop read, or take note of the end."""
        tls, self._reading_on = self._tls, False
        if tls is None or (self.has_much_unread and not self.ending):
            return
        try:
            data = tls.given()
        except ssl.SSLError as error:
            self.transport.abort()
            self._end(error)
            return
        if data:
            self.received(data)
        if data is not None:
            self._reading_on = True
            asyncio.get_running_loop().call_soon(self._read_on)
        elif self.ending:
            self._end(None)
        else:
            super()._resume_reading()

    def _end(self, error: Exception | None) -> None:
        if not self.lost:
            self._let_go()
            self.ended(error)

    def _let_go(self) -> None:
        """Cut the tie between TLS and this connection, which would otherwise hold one another for ever."""
        if self._tls is not None:
            self._tls.pace(None)
            self._tls = None
