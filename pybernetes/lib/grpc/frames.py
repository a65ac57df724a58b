"""Frames of HTTP/2 (RFC 9113), as far as a client of gRPC needs them: bytes in, bytes out."""

from __future__ import annotations

import struct
from collections.abc import Iterator

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    range(10)
)
END_STREAM, ACK, END_HEADERS, PADDED, HAS_PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 1, 2, 3, 4, 5
NO_ERROR, PROTOCOL_ERROR, CANCEL = 0, 1, 8
# What both sides may send in one frame and in advance until they have agreed on something else.
FRAME_BYTES = 16384
WINDOW_BYTES = 65535
MOST_WINDOW = 2**31 - 1

_HEAD = struct.Struct(">HBBBI")
_NUMBER = struct.Struct(">I")
_SETTING = struct.Struct(">HI")

# Type, flags, stream and payload.
Frame = tuple[int, int, int, bytes]


class ProtocolError(Exception):
    """The peer does not keep to HTTP/2."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a frame."""
    size = len(payload)
    return _HEAD.pack(size >> 8, size & 0xFF, kind, flags, stream) + payload


def settings(values: dict[int, int]) -> bytes:
    """Return a frame of settings."""
    return frame(SETTINGS, 0, 0, b"".join(_SETTING.pack(*item) for item in values.items()))


def window_update(stream: int, size: int) -> bytes:
    """Return a frame that lets the peer send more."""
    return frame(WINDOW_UPDATE, 0, stream, _NUMBER.pack(size))


def reset(stream: int, error: int = CANCEL) -> bytes:
    """Return a frame that ends a stream at once."""
    return frame(RST_STREAM, 0, stream, _NUMBER.pack(error))


def read_settings(payload: bytes) -> Iterator[tuple[int, int]]:
    """Yield the settings of a frame."""
    if len(payload) % _SETTING.size:
        raise ProtocolError("a frame of settings has a part of one")
    return _SETTING.iter_unpack(payload)


def read_number(payload: bytes) -> int:
    """Return the first number of a frame: an error code, the increment of a window, the last stream."""
    if len(payload) < _NUMBER.size:
        raise ProtocolError("a frame is too short")
    number: int = _NUMBER.unpack_from(payload)[0]
    return number


def content(flags: int, payload: bytes) -> bytes:
    """Return the payload of DATA or HEADERS without its padding and priority."""
    if not flags & (PADDED | HAS_PRIORITY):
        return payload
    begin, end = 0, len(payload)
    if flags & PADDED:
        if not payload:
            raise ProtocolError("a frame has no length of its padding")
        begin, end = 1, end - payload[0]
    if flags & HAS_PRIORITY:
        begin += 5
    if begin > end:
        raise ProtocolError("a frame has more padding than content")
    return payload[begin:end]


class FrameReader:
    """Cuts what arrives into frames."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete; keep the rest for the next call."""
        if self._rest:
            data = self._rest + data
            self._rest = b""
        position, end = 0, len(data)
        try:
            while end - position >= 9:
                high, low, kind, flags, stream = _HEAD.unpack_from(data, position)
                size = high << 8 | low
                if size > FRAME_BYTES:
                    raise ProtocolError(f"a frame of {size} bytes")
                after = position + 9 + size
                if after > end:
                    break
                payload = data[position + 9 : after]
                position = after
                yield kind, flags, stream & MOST_WINDOW, payload
        finally:
            self._rest = data[position:]
