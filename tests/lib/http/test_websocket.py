"""WebSocket frames and handshakes."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.http import websocket
from pybernetes.lib.http.websocket_connection import WebSocket


def messages_of(parser: websocket.Parser, data: bytes = b"") -> list[tuple[int, bytes]]:
    """Return the messages that are complete with some more bytes."""
    parser.feed(data)
    return list(iter(parser.next, None))


@given(
    st.lists(st.tuples(st.sampled_from([2, 8, 9]), st.binary(max_size=125)), max_size=8),
    st.lists(st.integers(1, 50), min_size=1),
    st.booleans(),
)
def test_frames_survive_any_cut(messages: list[tuple[int, bytes]], cuts: list[int], mask: bool) -> None:
    data = b"".join(
        websocket.frame(opcode, payload, mask=b"\x01\x02\x03\x04" if mask else None)
        for opcode, payload in messages
    )
    parser, received, position = websocket.Parser(masked=mask), list[tuple[int, bytes]](), 0
    turn = 0
    while position < len(data):
        size = cuts[turn % len(cuts)]
        received += messages_of(parser, data[position : position + size])
        position, turn = position + size, turn + 1
    assert received == messages


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536, 200_000])
def test_sizes(size: int) -> None:
    payload = bytes(range(256)) * (size // 256 + 1)
    frame = websocket.frame(2, payload[:size], mask=b"abcd")
    assert messages_of(websocket.Parser(masked=True), frame) == [(2, payload[:size])]


def test_parts_of_a_message_with_a_ping_between() -> None:
    first = bytes([0x02, 3]) + b"abc"
    last = bytes([0x80, 2]) + b"de"
    data = first + websocket.frame(9, b"p") + last
    assert messages_of(websocket.Parser(), data) == [(9, b"p"), (2, b"abcde")]


NONSENSE = {
    "reserved bits": (bytes([0xC2, 0]), 1002),
    "a continuation of nothing": (bytes([0x80, 0]), 1002),
    "a message inside of another one": (bytes([0x02, 1]) + b"a" + bytes([0x02, 1]) + b"b", 1002),
    "an unknown opcode": (bytes([0x83, 0]), 1002),
    "an unknown control opcode": (bytes([0x8B, 0]), 1002),
    "a ping in parts": (bytes([0x09, 0]), 1002),
    "a large ping": (bytes([0x89, 126, 0, 200]) + b"a" * 200, 1002),
    "a close of a size that takes eight bytes": (bytes([0x88, 127]) + b"\0" * 8, 1002),
    "more than there may be": (bytes([0x82, 127]) + b"\xff" * 8, 1009),
    "masked by a server": (websocket.frame(2, b"a", mask=b"abcd"), 1002),
    "text that is none": (websocket.frame(1, b"\xff\xfe"), 1007),
    "half a surrogate": (websocket.frame(1, b"\xed\xa0\x80"), 1007),
    "text in parts that is none": (bytes([0x01, 1]) + b"\xc3" + bytes([0x80, 1]) + b"a", 1007),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused(name: str) -> None:
    data, code = NONSENSE[name]
    with pytest.raises(websocket.WebSocketError) as caught:
        messages_of(websocket.Parser(), data)
    assert caught.value.code == code


def test_continuations_end() -> None:
    """A message that never ends is refused when it is too large, in one frame or in many."""
    parser = websocket.Parser(limit=1000)
    part = bytes([0x00, 100]) + b"a" * 100
    messages_of(parser, bytes([0x02, 0]) + part * 10)
    with pytest.raises(websocket.WebSocketError, match="too large"):
        messages_of(parser, part)


@given(st.binary(max_size=200), st.booleans())
def test_whatever_comes_is_messages_or_refused(data: bytes, mask: bool) -> None:
    parser = websocket.Parser(masked=mask, limit=1000)
    try:
        for opcode, payload in messages_of(parser, data):
            assert opcode in (1, 2, 8, 9, 10) and len(payload) <= len(data)
    except websocket.WebSocketError:
        pass


@pytest.mark.parametrize(
    ("payload", "answer"),
    [(b"", b""), (b"\x03", b"\x03\xea"), (b"\x03\xe8bye", b"\x03\xe8"), (b"\x03\xed", b"\x03\xea"),
     (b"\0\0", b"\x03\xea"), (b"\x0b\xb8", b"\x0b\xb8"), (b"\xff\xff", b"\x03\xea")],
)  # fmt: skip
def test_goodbyes(payload: bytes, answer: bytes) -> None:
    assert websocket.goodbye(payload) == answer


class Raw:
    """A connection on which everything has come already, and whose other side takes nothing."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.sent = bytearray()
        self.is_full = asyncio.Event()

    async def read(self) -> bytes:
        data, self._data = self._data, b""
        return data

    def write(self, data: bytes) -> None:
        self.sent += data

    async def drain(self) -> None:
        if len(self.sent) > 1000:
            self.is_full.set()
            await asyncio.Event().wait()

    def close(self) -> None:
        """Nothing is there to close."""


async def test_pings_are_answered_as_fast_as_the_answers_are_taken() -> None:
    raw = Raw(websocket.frame(9, b"p" * 100, mask=b"abcd") * 10_000)
    receiving = asyncio.create_task(WebSocket(raw, "", client=False).receive())
    await asyncio.wait_for(raw.is_full.wait(), 60)
    assert len(raw.sent) < 2000
    receiving.cancel()


async def test_many_small_messages_leave_others_their_turn() -> None:
    """However many came at once, the loop turns between them, and each costs the same."""
    count = 20_000
    socket, turns = WebSocket(Raw(websocket.frame(2, b"a", mask=b"abcd") * count), "", client=False), 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    turning = asyncio.create_task(turn())
    received = 0
    while await socket.receive() is not None:
        received += 1
    turning.cancel()
    assert received == count and turns >= count // 64


async def test_who_breaks_the_rules_is_told_so() -> None:
    raw = Raw(bytes([0x83, 0x80]) + b"abcd")
    with pytest.raises(websocket.WebSocketError):
        await WebSocket(raw, "", client=False).receive()
    assert bytes(raw.sent) == websocket.frame(8, b"\x03\xea")


def test_the_handshake_of_the_standard() -> None:
    assert websocket.accept_of(b"dGhlIHNhbXBsZSBub25jZQ==") == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    with pytest.raises(websocket.WebSocketError):
        websocket.check_upgrade({}, b"key")
    headers = websocket.accept_headers(b"dGhlIHNhbXBsZSBub25jZQ==", b"one")
    assert dict(headers)[b"Sec-WebSocket-Protocol"] == b"one"
    websocket.check_upgrade({name.lower(): value for name, value in headers}, b"dGhlIHNhbXBsZSBub25jZQ==")


def test_a_client_must_mask() -> None:
    parser = websocket.Parser(masked=True)
    assert messages_of(parser, websocket.frame(2, b"a", mask=b"abcd")) == [(2, b"a")]
    with pytest.raises(websocket.WebSocketError):
        messages_of(parser, websocket.frame(2, b"a"))
