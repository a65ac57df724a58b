"""Header blocks (HPACK, RFC 7541): made without a table, and read by the library.

A call's headers are always the same few bytes, and so are the answers' of a peer that keeps no table: it is told to
keep none. So each is made or read once and then looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import hpack

from pybernetes.lib.grpc.frames import ProtocolError

Metadata = tuple[tuple[str, str], ...]
MOST_BYTES = 64 * 1024
_METHOD_POST, _SCHEME_HTTP, _SCHEME_HTTPS = b"\x83", b"\x86", b"\x87"  # whole fields of the fixed table


@lru_cache(maxsize=256)
def request(path: str, authority: str, secure: bool, seconds: int | None, metadata: Metadata) -> bytes:
    """Return the block that begins a call."""
    fields: list[tuple[str, str]] = [
        (":path", path),
        (":authority", authority),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        ("user-agent", "pybernetes"),
    ]
    if seconds is not None:
        fields.append(("grpc-timeout", f"{seconds}S"))
    begin = _METHOD_POST + (_SCHEME_HTTPS if secure else _SCHEME_HTTP)
    return begin + _literals([*fields, *metadata])


def _literals(fields: Iterable[tuple[str, str]]) -> bytes:
    return b"".join(b"\0" + _text(name) + _text(value) for name, value in fields)


def _text(text: str) -> bytes:
    """Return a string with its length before it, in seven bits and more."""
    data = text.encode()
    size = len(data)
    if size < 127:
        return bytes((size,)) + data
    parts, size = bytearray((127,)), size - 127
    while size >= 128:
        parts.append(size & 127 | 128)
        size >>= 7
    parts.append(size)
    return bytes(parts) + data


class HeaderReader:
    """Reads the blocks of one connection, whose peer has been told to keep no table."""

    def __init__(self) -> None:
        self._decoder = hpack.Decoder(max_header_list_size=MOST_BYTES)
        # A peer that keeps one nevertheless is refused: it names entries that are not there. That it begins with saying that its table
        # is empty is not asked for, because servers of gRPC's own library do not when they end a call at its deadline.
        self._decoder.max_allowed_table_size = self._decoder.header_table_size = 0
        self._known: dict[bytes, dict[bytes, bytes]] = {}

    def read(self, block: bytes) -> dict[bytes, bytes]:
        """Return the headers of a block, which are not to be changed."""
        headers = self._known.get(block)
        if headers is None:
            try:
                headers = dict(self._decoder.decode(block, raw=True))
            except hpack.HPACKError as error:
                raise ProtocolError(f"headers that cannot be read: {error}") from None
            if len(block) < 256 and len(self._known) < 64:
                self._known[block] = headers
        return headers
