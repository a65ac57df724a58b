"""Reads a runtime's answer about a command that has ended, without copying what nobody will read.

A container decides how much its probe prints, and the runtime hands over up to 16 MB of it.
"""

from __future__ import annotations

from typing import NamedTuple

_OUTPUT, _ERRORS, _CODE = 1, 2, 3  # numbers of the fields
_NUMBER, _BYTES = 0, 2  # how fields are written


class ExecAnswer(NamedTuple):
    """How a command ended, and what it printed."""

    exit_code: int
    output: bytes
    errors: bytes


def parse(data: bytes, limit: int | None) -> ExecAnswer:
    """Return an ExecSyncResponse of protobuf, of each text no more than a limit; ValueError if it is none."""
    texts, code, position = {_OUTPUT: b"", _ERRORS: b""}, 0, 0
    while position < len(data):
        key, position = _varint(data, position)
        number, written = key >> 3, key & 7
        if written == _NUMBER:
            value, position = _varint(data, position)
            code = _signed(value) if number == _CODE else code
        elif written == _BYTES:
            size, position = _varint(data, position)
            if position + size > len(data):
                raise ValueError("the answer of the runtime is cut off")
            if number in texts:
                texts[number] = data[position : position + (size if limit is None else min(size, limit))]
            position += size
        else:
            raise ValueError(f"field {number} of the runtime's answer is written in an unknown way")
    return ExecAnswer(code, texts[_OUTPUT], texts[_ERRORS])


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
    raise ValueError("a number in the runtime's answer has no end")


def _signed(value: int) -> int:
    """Return a number of 32 bits that was written as one of 64."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value
