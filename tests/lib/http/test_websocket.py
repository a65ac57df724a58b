"""WebSocket frames and handshakes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.http import websocket


@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 8, 9]), st.binary(max_size=300)), max_size=8),
    st.lists(st.integers(1, 50), min_size=1),
    st.booleans(),
)
def test_frames_survive_any_cut(messages: list[tuple[int, bytes]], cuts: list[int], mask: bool) -> None:
    data = b"".join(
        websocket.frame(opcode, payload, mask=b"\x01\x02\x03\x04" if mask else None)
        for opcode, payload in messages
    )
    parser, found, position = websocket.Parser(), [], 0
    turn = 0
    while position < len(data):
        size = cuts[turn % len(cuts)]
        found += parser.feed(data[position : position + size])
        position, turn = position + size, turn + 1
    assert found == messages


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536, 200_000])
def test_sizes(size: int) -> None:
    payload = bytes(range(256)) * (size // 256 + 1)
    frame = websocket.frame(2, payload[:size], mask=b"abcd")
    assert websocket.Parser().feed(frame) == [(2, payload[:size])]


def test_parts_of_a_message_with_a_ping_between() -> None:
    first = bytes([0x02, 3]) + b"abc"
    last = bytes([0x80, 2]) + b"de"
    assert websocket.Parser().feed(first + websocket.frame(9, b"p") + last) == [(9, b"p"), (2, b"abcde")]


@pytest.mark.parametrize("data", [bytes([0xC2, 0]), bytes([0x80, 0]), bytes([0x82, 127]) + b"\xff" * 8])
def test_nonsense_is_refused(data: bytes) -> None:
    with pytest.raises(websocket.WebSocketError):
        websocket.Parser().feed(data)


def test_the_handshake_of_the_standard() -> None:
    assert websocket.accept_of(b"dGhlIHNhbXBsZSBub25jZQ==") == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    with pytest.raises(websocket.WebSocketError):
        websocket.check_upgrade({}, b"key")
    headers = websocket.accept_headers(b"dGhlIHNhbXBsZSBub25jZQ==", b"one")
    assert dict(headers)[b"Sec-WebSocket-Protocol"] == b"one"
    websocket.check_upgrade({name.lower(): value for name, value in headers}, b"dGhlIHNhbXBsZSBub25jZQ==")


def test_a_client_must_mask() -> None:
    parser = websocket.Parser(masked=True)
    assert parser.feed(websocket.frame(2, b"a", mask=b"abcd")) == [(2, b"a")]
    with pytest.raises(websocket.WebSocketError):
        parser.feed(websocket.frame(2, b"a"))


def test_a_message_inside_of_another_one() -> None:
    with pytest.raises(websocket.WebSocketError):
        websocket.Parser().feed(bytes([0x02, 1]) + b"a" + bytes([0x02, 1]) + b"b")
