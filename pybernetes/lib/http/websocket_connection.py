"""An open WebSocket connection, of either side."""

from __future__ import annotations

import asyncio
import os
import struct
from typing import Protocol

from pybernetes.lib.http.websocket import (
    BINARY,
    CLOSE,
    NORMAL,
    PING,
    PONG,
    Parser,
    WebSocketError,
    frame,
    goodbye,
)

# So many messages are handled before others have their turn.
_MESSAGES_PER_TURN = 64


class Bytes(Protocol):
    """What a WebSocket needs of the connection below it."""

    async def read(self) -> bytes:
        """Return what came since the last call; nothing at all at the end."""

    def write(self, data: bytes) -> None:
        """Queue bytes."""

    async def drain(self) -> None:
        """Wait until what is queued is not too much."""

    def close(self) -> None:
        """End the connection once what is queued is sent."""


class WebSocket:
    """Messages over a connection. ``protocol`` is the subprotocol that was agreed on; clients mask what they send."""

    def __init__(self, raw: Bytes, protocol: str, *, client: bool) -> None:
        self.protocol = protocol
        self.closed = False
        self._raw, self._client = raw, client
        self._parser = Parser(masked=not client)
        self._turn = 0

    async def receive(self) -> bytes | None:
        """Return the next message, or None if there will be no other; WebSocketError if it is none."""
        try:
            while True:
                while (message := self._parser.next()) is not None:
                    self._turn += 1
                    if self._turn % _MESSAGES_PER_TURN == 0:
                        await asyncio.sleep(0)
                    opcode, payload = message
                    if opcode < CLOSE:
                        return payload
                    if opcode == CLOSE:
                        self._end(goodbye(payload))
                        return None
                    if opcode == PING and not self.closed:
                        self._write(PONG, payload)
                        await self._raw.drain()  # who asks must take the answers
                if self.closed:
                    return None
                data = await self._raw.read()
                if not data:
                    self.closed = True
                    return None
                self._parser.feed(data)
        except WebSocketError as error:
            self._end(struct.pack("!H", error.code))
            raise

    async def send(self, payload: bytes, opcode: int = BINARY) -> None:
        """Send a message."""
        if self.closed:
            raise WebSocketError("the connection is closed")
        self._write(opcode, payload)
        await self._raw.drain()

    def _write(self, opcode: int, payload: bytes) -> None:
        self._raw.write(frame(opcode, payload, mask=os.urandom(4) if self._client else None))

    def _end(self, code: bytes = b"") -> None:
        if not self.closed:
            self.closed = True
            self._write(CLOSE, code)
            self._raw.close()

    def close(self, code: int = NORMAL) -> None:
        """Say goodbye, and why in the protocol's numbers, and end the connection."""
        self._end(struct.pack("!H", code))
