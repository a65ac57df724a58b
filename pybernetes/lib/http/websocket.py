"""WebSocket (RFC 6455): the handshake of both sides, and frames in and out. No I/O."""

from __future__ import annotations

import base64
import hashlib
import os
import struct

TYPE_CHECKING = False  # kubectl uses this module: typing's own costs time to import
if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
_CONTINUATION = 0
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MESSAGE_LIMIT = 32 << 20
_CONTROL_LIMIT = 125
_DATA, _CONTROL = frozenset((_CONTINUATION, TEXT, BINARY)), frozenset((CLOSE, PING, PONG))
# Why a connection ends, in the protocol's numbers.
NORMAL, PROTOCOL_ERROR, BAD_TEXT, TOO_BIG, INTERNAL_ERROR = 1000, 1002, 1007, 1009, 1011
# The numbers that may be sent; from 3000 on they are the applications' own.
_SENDABLE = frozenset((1000, 1001, 1002, 1003, *range(1007, 1015)))


class WebSocketError(ConnectionError):
    """The other side does not speak WebSocket as it should; ``code`` says so in the protocol's numbers."""

    def __init__(self, text: str, code: int = PROTOCOL_ERROR) -> None:
        super().__init__(text)
        self.code = code


def new_key() -> bytes:
    """Return a fresh Sec-WebSocket-Key."""
    return base64.b64encode(os.urandom(16))


def upgrade_headers(key: bytes, protocols: tuple[str, ...]) -> dict[bytes, bytes]:
    """Return the headers that ask for the upgrade."""
    headers = {
        b"Connection": b"Upgrade", b"Upgrade": b"websocket", b"Sec-WebSocket-Version": b"13", b"Sec-WebSocket-Key": key,
    }  # fmt: skip
    if protocols:
        headers[b"Sec-WebSocket-Protocol"] = ", ".join(protocols).encode()
    return headers


def accept_of(key: bytes) -> bytes:
    """Return what a server answers to a key."""
    return base64.b64encode(hashlib.sha1(key + _MAGIC).digest())


def accept_headers(key: bytes, protocol: bytes = b"") -> list[tuple[bytes, bytes]]:
    """Return the headers with which a server agrees to the upgrade, to one of the offered protocols if any."""
    headers = [
        (b"Upgrade", b"websocket"),
        (b"Connection", b"Upgrade"),
        (b"Sec-WebSocket-Accept", accept_of(key)),
    ]
    if protocol:
        headers.append((b"Sec-WebSocket-Protocol", protocol))
    return headers


def offered_protocols(headers: Mapping[bytes, bytes]) -> list[bytes]:
    """Return the subprotocols that a client offers."""
    names = headers.get(b"sec-websocket-protocol", b"").split(b",")
    return [name.strip() for name in names if name.strip()]


def check_upgrade(headers: dict[bytes, bytes], key: bytes) -> None:
    """Make sure that a server has understood."""
    if headers.get(b"sec-websocket-accept", b"").strip() != accept_of(key):
        raise WebSocketError("the server's answer to the upgrade is not a WebSocket's")


def frame(opcode: int, payload: bytes, *, mask: bytes | None = None) -> bytes:
    """Return a whole message as one frame; clients mask, servers do not."""
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
    """Return the payload with the mask put on, or taken off."""
    size = len(payload)
    if not size:
        return b""
    pattern = (mask * (size // 4 + 1))[:size]
    # Whole numbers of any length make this one operation instead of one per byte.
    return (int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")).to_bytes(size, "big")


class Parser:
    """Bytes in, messages out: pairs of opcode and payload. ``masked`` says whether frames must be, as a client's are."""

    def __init__(self, *, masked: bool = False, limit: int = _MESSAGE_LIMIT) -> None:
        self._masked, self._limit = masked, limit
        self._data = bytearray()
        self._opcode = 0
        self._message = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes; ``next`` gives what is in them."""
        self._data += data

    def next(self) -> tuple[int, bytes] | None:
        """Return the next message that is complete, None if there is none; WebSocketError if there never will be."""
        while (part := self._frame()) is not None:
            final, opcode, payload = part
            if opcode in _CONTROL:  # control frames may come between the parts of a message
                return opcode, payload
            if opcode != _CONTINUATION:
                if self._opcode:
                    raise WebSocketError("a message inside of another one")
                if final:  # mostly a message is one frame
                    return opcode, _checked(opcode, payload)
                self._opcode, self._message = opcode, bytearray()
            elif not self._opcode:
                raise WebSocketError("a continuation of nothing")
            self._message += payload
            if len(self._message) > self._limit:
                raise WebSocketError("the message is too large", TOO_BIG)
            if final:
                opcode, message = self._opcode, bytes(self._message)
                self._opcode, self._message = 0, bytearray()
                return opcode, _checked(opcode, message)
        return None

    def _frame(self) -> tuple[bool, int, bytes] | None:
        data = self._data
        if len(data) < 2:
            return None
        first, second = data[0], data[1]
        final, opcode, size, position = bool(first & 0x80), first & 0x0F, second & 0x7F, 2
        if first & 0x70:
            raise WebSocketError("reserved bits are set")
        if bool(second & 0x80) != self._masked:
            raise WebSocketError(
                "a client's frame is not masked" if self._masked else "a server's frame is masked"
            )
        if opcode in _CONTROL:
            if not final or size > _CONTROL_LIMIT:
                raise WebSocketError("a control frame is too large, or in parts")
        elif opcode not in _DATA:
            raise WebSocketError("an unknown opcode")
        if size == 126:
            if len(data) < 4:
                return None
            (size,), position = struct.unpack_from("!H", data, 2), 4
        elif size == 127:
            if len(data) < 10:
                return None
            (size,), position = struct.unpack_from("!Q", data, 2), 10
        if size > self._limit:
            raise WebSocketError("the message is too large", TOO_BIG)
        mask = b""
        if self._masked:
            mask, position = bytes(data[position : position + 4]), position + 4
        if len(data) < position + size:
            return None
        payload = bytes(data[position : position + size])
        del data[: position + size]
        return final, opcode, masked(payload, mask) if mask else payload


def _checked(opcode: int, payload: bytes) -> bytes:
    """Return a message; WebSocketError if it says that it is text and is not."""
    if opcode == TEXT:
        try:
            payload.decode()
        except UnicodeDecodeError:
            raise WebSocketError("a text is not UTF-8", BAD_TEXT) from None
    return payload


def goodbye(payload: bytes) -> bytes:
    """Return what is answered to a close frame with a payload: the same number, if it is one that may be sent."""
    if not payload:
        return b""
    code = int.from_bytes(payload[:2], "big") if len(payload) >= 2 else 0
    if code not in _SENDABLE and not 3000 <= code < 5000:
        code = PROTOCOL_ERROR
    return struct.pack("!H", code)
