"""A connection that a server has upgraded: to a WebSocket, or to anything else."""

from __future__ import annotations

import socket
import ssl

from tests.servers import TOKEN, Server

_KEY = ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")


class Upgraded:
    """The administrator's connection: the head of the answer, and a file to write to and read from."""

    def __init__(self, server: Server, path: str, *more: str, protocol: str = "websocket") -> None:
        context = ssl.create_default_context(cafile=str(server.authority))
        self._socket = context.wrap_socket(
            socket.create_connection(("127.0.0.1", server.port), timeout=60), server_hostname="127.0.0.1"
        )
        self.file = self._socket.makefile("rwb")
        lines = [
            f"GET {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {TOKEN}", "Connection: Upgrade",
            f"Upgrade: {protocol}", *(_KEY if protocol == "websocket" else ()), *more,
        ]  # fmt: skip
        self.say("\r\n".join(lines).encode() + b"\r\n\r\n")
        self.head = []
        while line := self.file.readline().strip():
            self.head.append(line.decode())

    def say(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.file.write(data)
        self.file.flush()

    def message(self) -> tuple[int, bytes]:
        """Return the next frame of a WebSocket: its first byte and its content."""
        kind, size = self.file.read(2)
        if size == 126:
            size = int.from_bytes(self.file.read(2), "big")
        elif size == 127:
            size = int.from_bytes(self.file.read(8), "big")
        return kind, self.file.read(size)

    def close(self) -> None:
        """Hangs up."""
        self.file.close()
        self._socket.close()
