"""The client with a peer that sends what no server should."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pybernetes.lib.grpc import frames, stream
from pybernetes.lib.grpc.channel import Channel, RpcError, StatusCode
from pybernetes.lib.grpc.frames import frame
from pybernetes.lib.grpc.stream import framed
from tests.lib.grpc.peers import raw, scripted_server, unary
from tests.lib.grpc.test_channel import SECONDS, run

NO_TABLE = b"\x20"  # what a server's first headers begin with when it keeps no table
OK = NO_TABLE + b"\x88\x0f\x10\x10application/grpc"  # :status 200 and the content type
GOOD = b"\x00\x0bgrpc-status\x010"
LIMIT = 1000


def head(block: bytes, *, end: bool = False, flags: int = frames.END_HEADERS) -> bytes:
    """Return headers of the first stream."""
    return frame(frames.HEADERS, flags | (frames.END_STREAM if end else 0), 1, block)


def data(payload: bytes, *, flags: int = 0) -> bytes:
    """Return data of the first stream."""
    return frame(frames.DATA, flags, 1, payload)


def answered_with(answer: bytes) -> Any:
    """Call a server that has this answer; return what comes of it."""

    def script(received: frames.Frame, send: Callable[[bytes], None]) -> None:
        if received[0] == frames.DATA:
            send(answer)

    async def call() -> Any:
        async with scripted_server(script) as port:
            channel = Channel(f"127.0.0.1:{port}", most_bytes=LIMIT)
            try:
                return await unary(channel, "Echo")(b"question", timeout=SECONDS)
            finally:
                await channel.close()

    async def limited() -> Any:
        async with asyncio.timeout(SECONDS):
            return await call()

    return asyncio.run(limited())


@pytest.mark.parametrize(
    "answer",
    [
        head(OK) + data(framed(b"yes")) + head(GOOD, end=True),
        head(OK) + b"".join(data(framed(b"yes")[at : at + 1]) for at in range(8)) + head(GOOD, end=True),
        head(OK) + data(b"\x03" + framed(b"yes") + b"\0\0\0", flags=frames.PADDED) + head(GOOD, end=True),
        head(b"\0\0\0\0\0" + OK, flags=frames.END_HEADERS | frames.HAS_PRIORITY)
        + data(framed(b"yes"))
        + head(GOOD, end=True),
        head(OK[:4], flags=0)
        + frame(frames.CONTINUATION, frames.END_HEADERS, 1, OK[4:])
        + data(framed(b"yes"))
        + head(GOOD, end=True),
        frame(frames.PING, 0, 0, bytes(8)) + frame(77, 0, 0, b"unknown") + head(OK) + data(framed(b"yes")) + head(GOOD, end=True),
    ],
    ids=["plain", "byte by byte", "padded", "priority", "continued", "among others"],
)  # fmt: skip
def test_answers_in_every_shape(answer: bytes) -> None:
    """What HTTP/2 allows is understood."""
    assert answered_with(answer) == b"yes"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", StatusCode.UNAVAILABLE),
        (frame(frames.PUSH_PROMISE, 4, 1, bytes(4)), StatusCode.UNAVAILABLE),
        (frame(frames.HEADERS, 4, 3, OK), StatusCode.UNAVAILABLE),
        (frame(frames.DATA, 0, 2, b""), StatusCode.UNAVAILABLE),
        (head(b"\xff\xff\xff\xff"), StatusCode.UNAVAILABLE),
        (head(b"\xbe"), StatusCode.UNAVAILABLE),  # an entry of a table
        (head(OK, flags=0) + frame(frames.PING, 0, 0, bytes(8)), StatusCode.UNAVAILABLE),
        (head(OK, flags=0) + frame(frames.CONTINUATION, 0, 1, b"x" * 16000) * 5, StatusCode.UNAVAILABLE),
        (head(OK) + data(b"\x09xxx", flags=frames.PADDED), StatusCode.UNAVAILABLE),
        (frame(frames.SETTINGS, 0, 0, b"odd"), StatusCode.UNAVAILABLE),
        (frames.window_update(0, frames.MOST_WINDOW), StatusCode.UNAVAILABLE),
        (frame(frames.GOAWAY, 0, 0, bytes(8)), StatusCode.UNAVAILABLE),
        (frames.reset(1, 7), StatusCode.UNAVAILABLE),
        (frames.reset(1), StatusCode.CANCELLED),
        (head(NO_TABLE + b"\x8d", end=True), StatusCode.UNIMPLEMENTED),
        (head(NO_TABLE + b"\x88", end=True), StatusCode.UNKNOWN),
        (data(framed(b"early")), StatusCode.INTERNAL),
        (head(OK) + data(b"\1" + framed(b"packed")[1:]), StatusCode.INTERNAL),
        (head(OK) + data(b"\0\xff\xff\xff\xff"), StatusCode.RESOURCE_EXHAUSTED),
        (head(OK) + data(framed(b"x" * 990)) + data(framed(b"x" * 990)), StatusCode.INTERNAL),
        (head(OK) + data(framed(b"") * 2), StatusCode.RESOURCE_EXHAUSTED),
        (head(OK) + head(GOOD, end=True), StatusCode.INTERNAL),
        (head(OK) + data(framed(b"yes"), flags=frames.END_STREAM), StatusCode.INTERNAL),
        (head(OK) + head(b"\x00\x0bgrpc-status\x0299", end=True), StatusCode.UNKNOWN),
        (head(OK) + head(b"\x00\x0bgrpc-status\x01x", end=True), StatusCode.UNKNOWN),
        (head(OK) + head(b"\x00\x0bgrpc-status\x017", end=True), StatusCode.PERMISSION_DENIED),
    ],
)
def test_what_may_not_come_is_an_error(answer: bytes, code: StatusCode) -> None:
    """Nothing hangs, nothing is kept, and the caller hears of it."""
    with pytest.raises(RpcError) as failure:
        answered_with(answer)
    assert failure.value.code is code


def test_no_more_calls_than_the_peer_takes() -> None:
    """With room for one call, the second is sent when the first has ended."""
    seen: list[int] = []

    def script(received: frames.Frame, send: Callable[[bytes], None]) -> None:
        kind, _, number, _ = received
        if kind == frames.SETTINGS and not received[1]:
            send(frames.settings({frames.MAX_CONCURRENT_STREAMS: 1}))
        elif kind == frames.DATA:
            seen.append(number)
            answer = [
                frame(frames.HEADERS, frames.END_HEADERS, number, OK),
                frame(frames.DATA, 0, number, framed(b"yes")),
                frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, number, GOOD),
            ]

            def reply() -> None:
                seen.append(-number)
                send(b"".join(answer))

            # A call that did not wait would be seen before this.
            asyncio.get_running_loop().call_later(0.02, reply)

    async def test() -> None:
        async with scripted_server(script) as port:
            channel = Channel(f"127.0.0.1:{port}", most_bytes=LIMIT)
            call = unary(channel, "Echo")
            assert await call(b"", timeout=SECONDS) == b"yes"
            assert await asyncio.gather(*(call(b"", timeout=SECONDS) for _ in range(3))) == [b"yes"] * 3
            await channel.close()
        assert seen == [1, -1, 3, -3, 5, -5, 7, -7]

    run(test())


def test_a_message_waits_for_the_window() -> None:
    """A peer that lets through a byte now and then gets what it lets through, and in the end all of it."""
    received = bytearray()
    done = asyncio.Event()

    def script(incoming: frames.Frame, send: Callable[[bytes], None]) -> None:
        kind, flags, number, payload = incoming
        if kind == frames.SETTINGS and not flags:
            send(frames.settings({frames.INITIAL_WINDOW_SIZE: 3}))
        elif kind == frames.HEADERS and number == 3:
            send(frames.window_update(3, 3))
        elif kind == frames.DATA:
            if number == 3:
                received.extend(payload)
                assert len(payload) <= 3
                if flags & frames.END_STREAM:
                    done.set()
                else:
                    send(frames.window_update(3, 2))
            if number == 1 or flags & frames.END_STREAM:
                answer = frame(frames.HEADERS, frames.END_HEADERS, number, OK) + frame(
                    frames.DATA, 0, number, framed(b"")
                )
                send(answer + frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, number, GOOD))

    async def test() -> None:
        async with scripted_server(script) as port:
            channel = Channel(f"127.0.0.1:{port}", most_bytes=LIMIT)
            call = unary(channel, "Echo")
            await call(b"", timeout=SECONDS)
            await call(b"a message of some length", timeout=SECONDS)
            await done.wait()
            await channel.close()
        assert bytes(received) == framed(b"a message of some length")

    run(test())


def test_a_reader_that_does_not_read_is_not_flooded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages that nobody reads are counted: the call fails before they fill the memory."""
    monkeypatch.setattr(stream, "_MOST_UNREAD", 100)

    def script(received: frames.Frame, send: Callable[[bytes], None]) -> None:
        if received[0] == frames.DATA:
            send(head(OK) + data(framed(b"") * 3000))

    async def test() -> None:
        async with scripted_server(script) as port:
            channel = Channel(f"127.0.0.1:{port}")
            call = channel.unary_stream("/test.Service/Count", raw, raw)(b"")
            with pytest.raises(RpcError) as failure:
                await call.read()
            assert failure.value.code is StatusCode.RESOURCE_EXHAUSTED
            await channel.close()

    run(test())
