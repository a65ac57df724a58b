"""A large body on its way out, a slice at a time: the next one is made when the client has taken what was before it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from pybernetes.lib.http.stream import chunk

# Bodies from this size on are sent in slices.
LARGE = 64 * 1024
SLICE = 128 * 1024
# Bodies above this size are compressed for those who like that.
PACKED = 128 * 1024


def slices(parts: Sequence[bytes]) -> Iterator[bytes | memoryview]:
    """Return a body as it is, in slices that share its bytes."""
    for part in parts:
        if len(part) <= SLICE:
            yield part
            continue
        view = memoryview(part)
        for start in range(0, len(part), SLICE):
            yield view[start : start + SLICE]


def packed_chunks(parts: Sequence[bytes]) -> Iterator[bytes]:
    """Return a body in the form of gzip, as chunks; made quickly rather than small: the client is usually near."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    for piece in slices(parts):
        if data := packer.compress(piece):
            yield chunk(data)
    yield chunk(packer.flush()) + b"0\r\n\r\n"
