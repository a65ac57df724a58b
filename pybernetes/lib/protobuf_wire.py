"""The wire format of protocol buffers: numbered values, nothing of what they mean."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are not a message."""


def varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    result = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise WireError("truncated or oversized number")
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7


_SHORT = [
    bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80, value >> 7]) for value in range(1 << 14)
]


def number(value: int) -> bytes:
    """Return a whole number of at most 64 bits as it is written."""
    if value < 1 << 14:
        return _SHORT[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Return every field of a message: its number, and a whole number or bytes."""
    position, end = 0, len(data)
    while position < end:
        tag = data[position]
        position += 1
        if tag >= 0x80:  # most tags and sizes are one byte, which needs no call
            tag, position = varint(data, position - 1)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise WireError("a field has the number 0")
        if kind == VARINT:
            value, position = varint(data, position)
            yield number, value
            continue
        if kind == BYTES:
            if position < end and (size := data[position]) < 0x80:
                position += 1
            else:
                size, position = varint(data, position)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise WireError(f"wire type {kind} is not supported")
        if position + size > end:
            raise WireError("truncated field")
        yield number, data[position : position + size]
        position += size


def signed(value: int) -> int:
    """Return a number as two's complement of 64 bits."""
    return value - (1 << 64) if value >= 1 << 63 else value
