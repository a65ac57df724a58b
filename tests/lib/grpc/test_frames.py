"""Frames are cut the same way wherever the network cuts them, and headers are read as the library writes them."""

import hpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.grpc import frames, header_blocks

FRAMES = st.lists(
    st.tuples(
        st.integers(0, 255), st.integers(0, 255), st.integers(0, frames.MOST_WINDOW), st.binary(max_size=300)
    ),
    max_size=8,
)


@given(FRAMES, st.lists(st.integers(0, 400), max_size=20))
def test_frames_in_pieces(wanted: list[frames.Frame], cuts: list[int]) -> None:
    """Whatever the pieces, the same frames come out."""
    data = b"".join(frames.frame(*frame) for frame in wanted)
    reader, position, got = frames.FrameReader(), 0, []
    for cut in [*cuts, len(data)]:
        got += list(reader.feed(data[position : position + cut]))
        position += cut
    assert got == wanted


def test_a_frame_that_is_too_large() -> None:
    """It is refused from its head alone."""
    with pytest.raises(frames.ProtocolError, match="16385"):
        list(frames.FrameReader().feed(frames.frame(0, 0, 1, bytes(16385))[:9]))


@given(
    st.text(max_size=300), st.lists(st.tuples(st.text(max_size=200), st.text(max_size=20_000)), max_size=3)
)
def test_request_headers_are_what_the_library_reads(path: str, metadata: list[tuple[str, str]]) -> None:
    """Names and values of any length."""
    block = header_blocks.request(path, "host:1", True, 3, tuple(metadata))
    decoder = hpack.Decoder(max_header_list_size=1 << 20)
    read = [(name.decode(), value.decode()) for name, value in decoder.decode(block, raw=True)]
    assert read[:4] == [(":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "host:1")]
    assert read[len(read) - len(metadata) :] == metadata
    assert ("grpc-timeout", "3S") in read
