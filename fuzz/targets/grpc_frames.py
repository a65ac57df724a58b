"""Frames of HTTP/2 and header blocks, as a server of gRPC sends them: read the same however they are cut."""

from __future__ import annotations

from fuzz.engine.target import Target
from pybernetes.lib.grpc import frames, header_blocks


def _read(pieces: list[bytes]) -> list[frames.Frame | str]:
    reader, read = frames.FrameReader(), list[frames.Frame | str]()
    try:
        for piece in pieces:
            read += reader.feed(piece)
    except frames.ProtocolError as error:
        read.append(str(error))
    return read


def run(data: bytes) -> None:
    """Read the bytes as frames, and what is in them."""
    whole = _read([data])
    step = max(1, len(data) // 20)
    cut = _read([data[at : at + step] for at in range(0, len(data), step)])
    assert whole == cut, (whole, cut)
    headers = header_blocks.HeaderReader()
    for entry in whole:
        if isinstance(entry, str):
            continue
        kind, flags, _, payload = entry
        if kind == frames.SETTINGS:
            list(frames.read_settings(payload))
        elif kind in (frames.RST_STREAM, frames.WINDOW_UPDATE, frames.GOAWAY):
            frames.read_number(payload)
        elif kind in (frames.DATA, frames.HEADERS):
            content = frames.content(flags, payload)
            if kind == frames.HEADERS:
                headers.read(content)


_ANSWER = b"\x88" + b"".join(
    b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
    for name, value in (
        (b"content-type", b"application/grpc"),
        (b"grpc-status", b"0"),
        (b"grpc-message", b"%C3%A4"),
    )
)
TARGET = Target(
    run,
    (frames.ProtocolError,),
    seeds=(
        frames.settings({frames.INITIAL_WINDOW_SIZE: 1 << 20}) + frames.frame(frames.SETTINGS, frames.ACK, 0),
        frames.frame(frames.HEADERS, frames.END_HEADERS, 1, _ANSWER) + frames.frame(frames.DATA, 0, 1, b"\0\0\0\0\5hello"),
        frames.frame(frames.DATA, frames.PADDED, 3, b"\3abc\0\0\0") + frames.reset(3) + frames.window_update(0, 70000),
        frames.frame(frames.HEADERS, frames.END_HEADERS | frames.PADDED | frames.HAS_PRIORITY, 5, b"\1\0\0\0\0\1" + _ANSWER + b"\0"),
        frames.frame(frames.PING, 0, 0, b"12345678") + frames.frame(frames.GOAWAY, 0, 0, b"\0" * 8),
    ),
    words=(b"\0\0\5", b"\0@\0", b"\xff\xff\xff", b"\x01", b"\x04", b"\x3f\xe1\x1f", b"\x82", b"\xbe", b"\x40", b"\x7f\xff\xff\xff\xff\x0f", b"\x80", b"\x0f"),
    per_byte=20e-6,
)  # fmt: skip
