"""SPDY frames of a container runtime: nothing that it sends breaks the connection's loop or grows without a limit."""

from __future__ import annotations

import asyncio
from typing import Any

from fuzz.engine.target import Target
from pybernetes.lib.http import spdy


class _Raw:
    """A connection whose bytes are given."""

    def __init__(self, data: bytes) -> None:
        step = max(1, len(data) // 5)
        self._pieces = [data[at : at + step] for at in range(0, len(data), step)]
        self.sent = 0

    async def read(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    def write(self, data: bytes) -> None:
        self.sent += len(data)

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        pass


async def _run(data: bytes) -> None:
    raw: Any = _Raw(data)
    connection = spdy.Connection(raw)
    stream = await connection.open({"streamtype": "stdout"})
    before = raw.sent
    running = asyncio.ensure_future(connection.run())
    read = 0
    while piece := await stream.read():
        read += len(piece)
    await running
    assert read <= len(data)
    assert raw.sent - before <= len(data) * 2, "answers more than it is sent"


def run(data: bytes) -> None:
    """Read the bytes as what a runtime sends."""
    whole = spdy.FrameParser().feed(data)
    parser = spdy.FrameParser()
    assert [frame for at in range(0, len(data), 7) for frame in parser.feed(data[at : at + 7])] == whole
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(_run(data))
    finally:
        loop.close()


TARGET = Target(
    run,
    seeds=(
        spdy.control_frame(spdy.SYN_REPLY, b"\0\0\0\1") + spdy.data_frame(1, b"hello") + spdy.data_frame(1, b"", spdy.FIN),
        spdy.control_frame(spdy.PING, b"\0\0\0\2") + spdy.control_frame(spdy.SETTINGS, b"\0\0\0\0") + spdy.control_frame(spdy.GOAWAY, bytes(8)),
        spdy.data_frame(1, b"x" * 1000) + spdy.control_frame(spdy.RST_STREAM, b"\0\0\0\1\0\0\0\5"),
    ),
    words=(b"\x80\x03", b"\0\6", b"\0\2", b"\0\3", b"\xff\xff\xff", b"\0\0\0\1", b"\0\0\0", b"\1"),
    per_byte=100e-6,
    largest=16 << 10,
)  # fmt: skip
