"""Follows the chunks of a body, to know where they end: llhttp does not say, and skips line ends that come behind."""

from __future__ import annotations

import re

# A line with a size: zeros, digits (llhttp refuses more of them), anything else, and its end if that has come.
_SIZE_LINE = re.compile(rb"0*([0-9a-fA-F]{0,17})([^\n]*)(\n?)")
# Any number of whole chunks of less than 16 bytes: of these, a body can have so many that one by one they take long.
_SMALL_CHUNKS = re.compile(
    rb"(?is:0*+(?:%b))*+"
    % b"|".join(rb"%x(?![0-9a-f])[^\n]*+\n.{%d}" % (size, size + 2) for size in range(1, 16))
)


class Chunks:
    """The chunks of one body. llhttp alone decides whether they are well-formed; this finds where to cut the data."""

    __slots__ = ("_left", "_line", "ended")

    def __init__(self) -> None:
        self.ended = (
            False  # whether the line of the last chunk is complete: trailers follow, or an empty line
        )
        self._left = 0  # bytes before the next line with a size
        self._line = b""  # what matters of a line whose end has not come yet

    def part_end(self, data: bytes, offset: int, stop: int) -> int:
        """Return where the line of the last chunk ends, or ``stop`` if that does not come before."""
        if self._line:
            before = offset - len(self._line)
            data, self._line = self._line + data[offset:stop], b""
            return before + self._walk(data, 0, stop - before)
        return self._walk(data, offset, stop)

    def _walk(self, data: bytes, offset: int, stop: int) -> int:
        offset += self._left
        self._left = 0
        while offset < stop:
            if (small := _SMALL_CHUNKS.match(data, offset, stop)) and small.end() > offset:
                offset = small.end()
                continue
            line = _SIZE_LINE.match(data, offset, stop)
            assert line is not None  # it matches anything
            digits, more, feed = line.groups()
            if not feed:
                self._line = (digits or b"0") + (b";" if more else b"")
                return stop
            offset = line.end()
            if not digits:
                self.ended = True
                return offset
            offset += int(digits, 16) + 2
        self._left = offset - stop
        return stop
