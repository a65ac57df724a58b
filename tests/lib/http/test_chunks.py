"""Where the chunks of a body end is known however the data is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.http.chunks import Chunks

CHUNK = st.tuples(
    st.sampled_from((b"", b"0", b"00000000000000000000000")),
    st.one_of(st.binary(min_size=1, max_size=40), st.just(b"\r\n0\r\n\r\n"), st.just(b"a" * 500)),
    st.sampled_from((b"", b";x", b";x=0", b';x="0;0"')),
)


@given(st.lists(CHUNK, max_size=6), st.sampled_from((b"0", b"000", b"0;x=5")), st.lists(st.integers(1, 50)))
def test_the_line_of_the_last_chunk_is_found(
    chunks: list[tuple[bytes, bytes, bytes]], last: bytes, sizes: list[int]
) -> None:
    body = b"".join(b"%b%x%b\r\n%b\r\n" % (zeros, len(data), more, data) for zeros, data, more in chunks)
    body += last + b"\r\n"
    data = body + b"X: y\r\n\r\n5\r\n"
    reading, position, cuts = Chunks(), 0, iter(sizes)
    while not reading.ended:
        stop = min(position + next(cuts, len(data)), len(data))
        end = reading.part_end(data, position, stop)
        assert position < end <= stop and (reading.ended or end == stop)
        position = end
    assert position == len(body)
