"""WebSocket, the server's side, on the frames of the client's."""

from __future__ import annotations

import struct

from pybernetes.client.websocket import BINARY, CLOSE, PING, PONG, TEXT, Parser, accept_of, frame
from pybernetes.node.kubelet.server.http import Problem, Request

_READ = 65536


def protocols(request: Request) -> list[str]:
    """The subprotocols that a client offers."""
    return [
        each.strip() for each in request.headers.get("sec-websocket-protocol", "").split(",") if each.strip()
    ]


class WebSocket:
    """A connection that has become a WebSocket."""

    def __init__(self, request: Request) -> None:
        self._reader, self._writer = request.connection.reader, request.connection.writer
        self._parser = Parser()
        self._messages: list[tuple[int, bytes]] = []
        self.closed = False

    @classmethod
    async def accept(cls, request: Request, protocol: str) -> WebSocket:
        """Agrees to the upgrade."""
        key = request.headers.get("sec-websocket-key")
        if not key:
            raise Problem(400, "the request has no Sec-WebSocket-Key")
        lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            f"Sec-WebSocket-Accept: {accept_of(key.encode()).decode()}",
            f"Sec-WebSocket-Protocol: {protocol}",
        ]  # fmt: skip
        request.connection.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        await request.connection.writer.drain()
        return cls(request)

    async def receive(self) -> bytes | None:
        """The next message; None if there will be no other."""
        while True:
            while self._messages:
                opcode, payload = self._messages.pop(0)
                if opcode in (TEXT, BINARY):
                    return payload
                if opcode == PING:
                    self._writer.write(frame(PONG, payload))
                elif opcode == CLOSE:
                    self.closed = True
                    return None
            data = await self._reader.read(_READ)
            if not data:
                self.closed = True
                return None
            self._messages = self._parser.feed(data)

    async def send(self, payload: bytes) -> None:
        """Sends a message."""
        self._writer.write(frame(BINARY, payload))
        await self._writer.drain()

    async def close(self) -> None:
        """Says goodbye."""
        if not self.closed:
            self.closed = True
            self._writer.write(frame(CLOSE, struct.pack("!H", 1000)))
            await self._writer.drain()
