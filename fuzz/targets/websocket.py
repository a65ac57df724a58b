"""WebSocket frames: read the same however they are cut, with and without masks; what we write we read."""

from __future__ import annotations

from fuzz.engine.target import Target
from pybernetes.lib.http import websocket


def _read(pieces: list[bytes], masked: bool) -> list[tuple[int, bytes] | str]:
    parser = websocket.Parser(masked=masked)
    messages: list[tuple[int, bytes] | str] = []
    try:
        for piece in pieces:
            parser.feed(piece)
            while (message := parser.next()) is not None:
                messages.append(message)
    except websocket.WebSocketError as error:
        messages.append(str(error))
    return messages


def run(data: bytes) -> None:
    """Read the bytes as frames of a client and of a server."""
    for masked in (True, False):
        whole = _read([data], masked)
        step = max(1, len(data) // 20)
        cut = _read([data[at : at + step] for at in range(0, len(data), step)], masked)
        assert whole == cut, (whole, cut)
    assert _read([websocket.frame(websocket.BINARY, data, mask=b"abcd")], True) == [(websocket.BINARY, data)]


TARGET = Target(
    run,
    seeds=(
        websocket.frame(websocket.TEXT, b"hello", mask=b"\1\2\3\4") + websocket.frame(websocket.PING, b"", mask=b"abcd"),
        websocket.frame(websocket.BINARY, b"x" * 300) + websocket.frame(websocket.CLOSE, b"\x03\xe8"),
        b"\x01\x03abc\x80\x03def\x82\x7e\x00\x05hello",
        websocket.frame(websocket.BINARY, b"y" * 70000),
    ),
    words=(b"\x81", b"\x01", b"\x80", b"\x89", b"\x88", b"\x7e\xff\xff", b"\x7f\xff\xff\xff\xff\xff\xff\xff\xff", b"\xff", b"\x7f\0\0\0\0\0\0\0\0"),
    per_byte=20e-6,
)  # fmt: skip
