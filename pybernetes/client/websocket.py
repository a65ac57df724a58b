"""WebSocket (RFC 6455), the client's side: the handshake, and frames in and out."""

from __future__ import annotations

import base64
import hashlib
import os
import struct

from pybernetes.client.transport import Raw, Transport

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
_CONTINUATION = 0
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MESSAGE_LIMIT = 64 << 20


class WebSocketError(ConnectionError):
    """The other side does not speak WebSocket as it should."""


def new_key() -> bytes:
    """A fresh Sec-WebSocket-Key."""
    return base64.b64encode(os.urandom(16))


def upgrade_headers(key: bytes, protocols: tuple[str, ...]) -> dict[bytes, bytes]:
    """The headers that ask for the upgrade."""
    headers = {
        b"Connection": b"Upgrade", b"Upgrade": b"websocket", b"Sec-WebSocket-Version": b"13", b"Sec-WebSocket-Key": key,
    }  # fmt: skip
    if protocols:
        headers[b"Sec-WebSocket-Protocol"] = ", ".join(protocols).encode()
    return headers


def accept_of(key: bytes) -> bytes:
    """What a server answers to a key."""
    return base64.b64encode(hashlib.sha1(key + _MAGIC).digest())


def check_upgrade(headers: dict[bytes, bytes], key: bytes) -> None:
    """Makes sure that a server has understood."""
    if headers.get(b"sec-websocket-accept", b"").strip() != accept_of(key):
        raise WebSocketError("the server's answer to the upgrade is not a WebSocket's")


def frame(opcode: int, payload: bytes, *, mask: bytes | None = None) -> bytes:
    """A whole message as one frame; clients mask, servers do not."""
    size = len(payload)
    bit = 0x80 if mask is not None else 0
    if size < 126:
        head = struct.pack("!BB", 0x80 | opcode, bit | size)
    elif size < 65536:
        head = struct.pack("!BBH", 0x80 | opcode, bit | 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, bit | 127, size)
    return head + payload if mask is None else head + mask + masked(payload, mask)


def masked(payload: bytes, mask: bytes) -> bytes:
    """The payload with the mask put on, or taken off."""
    size = len(payload)
    if not size:
        return b""
    pattern = (mask * (size // 4 + 1))[:size]
    # Whole numbers of any length make this one operation instead of one per byte.
    return (int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")).to_bytes(size, "big")


class Parser:
    """Bytes in, messages out: pairs of opcode and payload."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._opcode = 0
        self._message = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """The messages that are complete now."""
        self._data += data
        found = []
        while (part := self._frame()) is not None:
            final, opcode, payload = part
            if opcode >= CLOSE:  # control frames may come between the parts of a message
                found.append((opcode, payload))
                continue
            if opcode != _CONTINUATION:
                self._opcode, self._message = opcode, bytearray()
            elif not self._opcode:
                raise WebSocketError("a continuation of nothing")
            self._message += payload
            if len(self._message) > _MESSAGE_LIMIT:
                raise WebSocketError("the message is too large")
            if final:
                found.append((self._opcode, bytes(self._message)))
                self._opcode, self._message = 0, bytearray()
        return found

    def _frame(self) -> tuple[bool, int, bytes] | None:
        data = self._data
        if len(data) < 2:
            return None
        first, second = data[0], data[1]
        if first & 0x70:
            raise WebSocketError("reserved bits are set")
        size, position = second & 0x7F, 2
        if size == 126:
            if len(data) < 4:
                return None
            (size,), position = struct.unpack_from("!H", data, 2), 4
        elif size == 127:
            if len(data) < 10:
                return None
            (size,), position = struct.unpack_from("!Q", data, 2), 10
        if size > _MESSAGE_LIMIT:
            raise WebSocketError("the message is too large")
        mask = b""
        if second & 0x80:
            mask, position = bytes(data[position : position + 4]), position + 4
        if len(data) < position + size:
            return None
        payload = bytes(data[position : position + size])
        del data[: position + size]
        return bool(first & 0x80), first & 0x0F, masked(payload, mask) if mask else payload


class Socket:
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
) -> Socket:
    """Opens a WebSocket connection; StatusError if the server refuses."""
    key = new_key()
    raw = await transport.upgrade(path, query, {**headers, **upgrade_headers(key, protocols)})
    try:
        check_upgrade(raw.headers, key)
    except WebSocketError:
        raw.close()
        raise
    return Socket(raw, raw.headers.get(b"sec-websocket-protocol", b"").decode())
