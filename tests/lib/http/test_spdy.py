"""SPDY frames: cut anywhere, and streams of a connection whose other side the test plays."""

from __future__ import annotations

import asyncio
import zlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.http import spdy


@given(
    st.lists(st.tuples(st.integers(1, 2**31 - 1), st.binary(max_size=100), st.sampled_from([0, spdy.FIN]))),
    st.integers(1, 40),
)
def test_frames_survive_any_cut(frames: list[tuple[int, bytes, int]], size: int) -> None:
    data = b"".join(spdy.data_frame(*frame) for frame in frames)
    parser, received = spdy.FrameParser(), []
    for start in range(0, len(data), size):
        received += parser.feed(data[start : start + size])
    assert [(int.from_bytes(head[:4], "big"), body, head[4]) for head, body in received] == frames


class Raw:
    """A connection whose other side says what the test says."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.incoming: asyncio.Queue[bytes] = asyncio.Queue()

    async def read(self) -> bytes:
        return await self.incoming.get()

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        self.incoming.put_nowait(b"")


async def test_streams() -> None:
    raw: Any = Raw()
    connection = spdy.Connection(raw)
    running = asyncio.create_task(connection.run())
    first, second = (
        await connection.open({"streamType": "stdin"}),
        await connection.open({"streamType": "stdout"}),
    )
    assert (first.number, second.number) == (1, 3)
    opened = zlib.decompressobj(zdict=spdy.DICTIONARY).decompress(raw.sent[0][18:])
    assert opened.endswith(b"\0\0\0\x05stdin") and b"streamtype" in opened
    await first.write(b"a" * 40_000)
    await first.end()
    assert [len(frame) for frame in raw.sent[2:]] == [32_776, 7_240, 8]
    raw.incoming.put_nowait(
        spdy.data_frame(3, b"out") + spdy.data_frame(9, b"nobody's") + spdy.control_frame(spdy.PING, b"1234")
    )
    assert await second.read() == b"out"
    raw.incoming.put_nowait(spdy.data_frame(3, b"last", spdy.FIN))
    assert (await second.read(), await second.read(), await second.read()) == (b"last", b"", b"")
    assert raw.sent[-1] == spdy.control_frame(spdy.PING, b"1234")
    connection.close()
    await running
    assert await first.read() == b""


async def test_what_nobody_reads_is_not_taken_in() -> None:
    raw: Any = Raw()
    connection = spdy.Connection(raw)
    running = asyncio.create_task(connection.run())
    stream = await connection.open({})
    piece = spdy.data_frame(1, b"x" * 600_000)
    for _ in range(4):
        raw.incoming.put_nowait(piece)
    for _ in range(10):
        await asyncio.sleep(0)
    assert raw.incoming.qsize() == 2
    for _ in range(4):
        assert len(await stream.read()) == 600_000
    running.cancel()


async def test_what_nobody_reads_is_dropped() -> None:
    """A runtime that sends where nothing is expected neither fills the memory nor stops the other streams."""
    raw: Any = Raw()
    connection = spdy.Connection(raw)
    running = asyncio.create_task(connection.run())
    deaf = await connection.open({"streamType": "stdin"}, is_read=False)
    output = await connection.open({"streamType": "stdout"})
    raw.incoming.put_nowait(spdy.data_frame(deaf.number, b"x" * (2 << 20)))
    raw.incoming.put_nowait(spdy.data_frame(output.number, b"there"))
    assert await asyncio.wait_for(output.read(), 60) == b"there"
    raw.close()
    await asyncio.wait_for(running, 60)
