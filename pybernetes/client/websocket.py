"""WebSocket connections of a client, over any transport."""

from __future__ import annotations

import os
import struct

from pybernetes.client.transport import Raw, Transport
from pybernetes.lib.http.websocket import (
    BINARY,
    CLOSE,
    PING,
    PONG,
    TEXT,
    Parser,
    WebSocketError,
    accept_of,
    check_upgrade,
    frame,
    masked,
    new_key,
    upgrade_headers,
)

__all__ = [
    "BINARY",
    "CLOSE",
    "PING",
    "PONG",
    "TEXT",
    "Parser",
    "WebSocket",
    "WebSocketError",
    "accept_of",
    "check_upgrade",
    "connect",
    "frame",
    "masked",
    "new_key",
    "upgrade_headers",
]


class WebSocket:
    """An open WebSocket connection. ``protocol`` is the subprotocol that the server chose."""

    def __init__(self, raw: Raw, protocol: str) -> None:
        self.protocol = protocol
        self._raw = raw
        self._parser = Parser()
        self._messages: list[tuple[int, bytes]] = []
        self.closed = False

    async def receive(self) -> bytes | None:
        """The next message, or None if there will be no other."""
        while True:
            for _ in range(len(self._messages)):
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
        """Sends a message."""
        if self.closed:
            raise WebSocketError("the connection is closed")
        self._write(opcode, payload)
        await self._raw.drain()

    def _write(self, opcode: int, payload: bytes) -> None:
        self._raw.write(frame(opcode, payload, mask=os.urandom(4)))

    def _end(self, code: bytes = b"") -> None:
        if not self.closed:
            self.closed = True
            self._write(CLOSE, code)
            self._raw.close()

    def close(self) -> None:
        """Says goodbye and ends the connection."""
        self._end(struct.pack("!H", 1000))


async def connect(
    transport: Transport, path: str, query: str, protocols: tuple[str, ...], headers: dict[bytes, bytes]
) -> WebSocket:
    """Opens a WebSocket connection; StatusError if the server refuses."""
    key = new_key()
    raw = await transport.upgrade(path, query, {**headers, **upgrade_headers(key, protocols)})
    try:
        check_upgrade(raw.headers, key)
    except WebSocketError:
        raw.close()
        raise
    return WebSocket(raw, raw.headers.get(b"sec-websocket-protocol", b"").decode())
