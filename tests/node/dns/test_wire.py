"""Reading what others sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.dns import wire


@given(st.binary(max_size=120), st.integers(0, 20))
def test_reading_messages_ends(message: bytes, count: int) -> None:
    try:
        wire.read_records(message, 12, count)
    except wire.Malformed:
        pass
