"""Packed bodies unpacked and packed again as they come, as much as there may be of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

# What zlib calls the formats of the content encodings; deflate is meant as Go's programs mean it, without a head.
FORMATS = {b"gzip": 31, b"deflate": -15}
_PIECE = 1 << 16
_SLICE = 1 << 14
# A body may grow that much, and to that size.
_MOST_GROWTH = 200
_MOST_BYTES = 64 << 20
_FREE_BYTES = 1 << 20


class BadEncoding(ConnectionError):
    """The body is not what its encoding says, is cut off, or holds too much."""


class Unpacker:
    """Unpacks a body in pieces of bounded size."""

    def __init__(self, encoding: bytes) -> None:
        self._format = FORMATS[encoding]
        self._unpack = zlib.decompressobj(self._format)
        self._taken = self._given = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what is in the data; BadEncoding if that cannot be."""
        for start in range(0, len(data), _SLICE):
            yield from self._slice(data[start : start + _SLICE])

    def _slice(self, data: bytes) -> Iterator[bytes]:
        self._taken += len(data)
        full = False
        while data or full:
            if self._unpack.eof:  # several of them, one after the other, are one
                if self._format != FORMATS[b"gzip"]:
                    raise BadEncoding("there is more than the encoded body")
                self._unpack = zlib.decompressobj(self._format)
            try:
                piece = self._unpack.decompress(data, _PIECE)
            except zlib.error as error:
                raise BadEncoding(str(error)) from None
            self._given += len(piece)
            if self._given > min(_MOST_BYTES, max(_FREE_BYTES, _MOST_GROWTH * self._taken)):
                raise BadEncoding("the encoded body holds too much")
            yield piece
            data = self._unpack.unconsumed_tail or self._unpack.unused_data
            full = len(piece) == _PIECE and not self._unpack.eof  # then more may come of what was taken

    def finish(self) -> None:
        """BadEncoding if the body ends before its end."""
        if self._taken and not self._unpack.eof:
            raise BadEncoding("unexpected EOF")


class Packer:
    """Packs a body again, quickly rather than small."""

    def __init__(self, encoding: bytes) -> None:
        self._pack = zlib.compressobj(1, zlib.DEFLATED, FORMATS[encoding])

    def feed(self, data: bytes) -> bytes:
        """Return what of the packed body is ready."""
        return self._pack.compress(data)

    def finish(self) -> bytes:
        """Return the rest."""
        return self._pack.flush()
