"""Reading what others sent."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.dns import wire
from tests.doubling import MOST_GROWTH, Input, growth


@given(st.binary(max_size=120), st.integers(0, 20))
def test_reading_messages_ends(message: bytes, count: int) -> None:
    try:
        wire.read_records(message, 12, count)
    except wire.Malformed:
        pass


@given(st.binary(max_size=120), st.lists(st.integers(0, 120), max_size=20))
def test_what_is_known_of_names_changes_none(message: bytes, offsets: list[int]) -> None:
    known: dict[int, bytes] = {}
    for at in offsets:
        try:
            expected = wire.read_name(message, at)
        except wire.Malformed:
            continue
        assert wire.read_name(message, at, known) == expected


_LABELS = 126


def _records(size: int) -> tuple[bytes, int]:
    """Return records whose owners and data lead to names of as many labels as there may be, at any of them."""
    names = size // 256 + 1
    text = (b"\1a" * _LABELS + b"\0") * names
    first = b"\0" + struct.pack(">HHIH", 16, 1, 60, len(text)) + text
    at = [12 + 11 + 253 * (number % names) + 2 * (number % _LABELS) for number in range(size)]
    pointers = (struct.pack(">H", 0xC000 | where) for where in at)
    return bytes(12) + first + b"".join(
        to + struct.pack(">HHIH", 2, 1, 60, 2) + to for to in pointers
    ), size + 1


def test_names_that_many_pointers_lead_to_are_read_once() -> None:
    """An answer of 64 KiB held the event loop for a second."""
    message, count = _records(4096)
    assert len(message) < 1 << 16
    assert len(wire.read_records(message, 12, count)[0]) == count
    input_ = Input("pointers", _records, lambda made: wire.read_records(made[0], 12, made[1]), largest=4096)
    assert growth(input_) < MOST_GROWTH
