"""An open WebSocket connection, of either side."""

from __future__ import annotations

import os
import struct
from typing import Protocol

from pybernetes.lib.http.websocket import BINARY, CLOSE, PING, PONG, TEXT, Parser, WebSocketError, frame


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
        self._messages: list[tuple[int, bytes]] = []

    async def receive(self) -> bytes | None:
        """Return the next message, or None if there will be no other."""
        while True:
            while self._messages:
                opcode, payload = self._messages.pop(0)
                if opcode in (TEXT, BINARY):
                    return payload
                if opcode == PING:
                    self._write(PONG, payload)
                elif opcode == CLOSE:
                    self._end(payload[:2])
                    return None
            if self.closed:
                return None
            data = await self._raw.read()
            if not data:
                self.closed = True
                return None
            self._messages = self._parser.feed(data)

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

    def close(self) -> None:
        """Say goodbye and end the connection."""
        self._end(struct.pack("!H", 1000))
