"""A large body on its way out, a slice at a time: the next one is made when the client has taken what was before it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from pybernetes.lib.http.stream import chunk

# Bodies from this size on are sent in slices.
LARGE = 64 * 1024
SLICE = 256 * 1024
# Bodies above this size are compressed for those who like that.
PACKED = 128 * 1024


def slices(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Return parts one after the other in slices of one size, so that small parts make no writes of their own."""
    pieces: list[bytes | memoryview] = []
    room = SLICE
    for part in parts:
        left = memoryview(part)
        while len(left) > room:
            pieces.append(left[:room])
            yield b"".join(pieces)
            pieces, left, room = [], left[room:], SLICE
        pieces.append(left)
        room -= len(left)
    yield b"".join(pieces)


def packed_chunks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Return a body in the form of gzip, as chunks; made quickly rather than small: the client is usually near."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    for piece in slices(parts):
        if data := packer.compress(piece):
            yield chunk(data)
    yield chunk(packer.flush()) + b"0\r\n\r\n"
