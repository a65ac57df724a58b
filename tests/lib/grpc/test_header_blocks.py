"""Headers of calls, and a table that nobody keeps."""

from __future__ import annotations

import hpack
import pytest

from pybernetes.lib.grpc.frames import ProtocolError
from pybernetes.lib.grpc.header_blocks import HeaderReader

STATUS = b"\x00\x0bgrpc-status\x011"  # a literal that no table keeps


def test_a_peer_may_leave_out_that_its_table_is_empty() -> None:
    """gRPC's own servers do when they end a call at its deadline; the next block says so then, or none ever does."""
    reader = HeaderReader()
    assert reader.read(STATUS) == {b"grpc-status": b"1"}
    assert reader.read(b"\x20" + STATUS) == {b"grpc-status": b"1"}


def test_a_peer_that_keeps_a_table_is_refused() -> None:
    reader, encoder = HeaderReader(), hpack.Encoder()
    first, second = (encoder.encode([("a", "b")], huffman=False) for _ in range(2))
    assert reader.read(first) == {b"a": b"b"}
    with pytest.raises(ProtocolError, match="cannot be read"):
        reader.read(second)
    with pytest.raises(ProtocolError, match="cannot be read"):
        HeaderReader().read(b"\x3f\xe1\x1f" + STATUS)  # a table of 4096 bytes
