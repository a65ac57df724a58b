"""gzip for large bodies, where the client asks for it."""

from __future__ import annotations

import zlib

_THRESHOLD = 128 * 1024


def wanted(accept_encoding: bytes, size: int) -> bool:
    """Return whether a body of this size goes out compressed."""
    return size > _THRESHOLD and b"gzip" in accept_encoding


def compress(body: bytes) -> bytes:
    """Return the gzip form, made quickly rather than small: the client is usually near."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(body) + packer.flush()
