"""Tunnels to a pod that somebody else wrote, as exec, attach, port-forward and ``proxy`` are, and watches by the thousand.

The pod is this process, as in ``answers``. What it says over a tunnel nobody reads; what is said to it, it does not read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from bench.attacking import answers
from bench.harness.attacked import Attack, Attacked
from bench.harness.shared_server import ADMIN, PODS

_SECONDS = 2.0
_TUNNELS, _WATCHES, _AT_ONCE = 50, 2500, 50
_PIECE = b"x" * 65536
_UPGRADE = b"Connection: Upgrade\r\nUpgrade: tunnel\r\n\r\n"
_SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tunnel\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
# The port of the pod's server, by the port of the API server that knows it, and the loop that it runs on.
_ready: dict[tuple[int, int], asyncio.Task[int]] = {}


async def _pod(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Switch protocols; then talk without end, echo, or do nothing, as the path says."""
    # Streams of asyncio complain about handlers that are cancelled at the end.
    with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1]
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" if path == b"/log" else _SWITCHED)
        await writer.drain()
        if path in (b"/talks", b"/log"):
            while True:
                writer.write(_PIECE)
                await writer.drain()
        elif path == b"/echoes":
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        else:
            reader._transport.pause_reading()  # type: ignore[attr-defined]
            await asyncio.sleep(60)
    writer.close()


async def _opened(server: Attacked, what: str, count: int) -> list[Streams]:
    key = (server.port, id(asyncio.get_running_loop()))
    if key not in _ready:
        _ready[key] = asyncio.create_task(answers.prepared(server, _pod))
    port = await asyncio.shield(_ready[key])
    head = replace(server, token=ADMIN).head(f"{PODS}/answers:{port}/proxy/{what}", known=True)
    request = head + (b"\r\n" if what == "log" else _UPGRADE)
    return await _connected(server, request, count)


async def _connected(server: Attacked, request: bytes, count: int) -> list[Streams]:
    """Send a request over so many connections, some at a time; return those that were made."""
    opened: list[Streams] = []
    left = iter(range(count))

    async def some() -> None:
        for _ in left:
            reader, writer = await server.connect()
            opened.append((reader, writer))
            writer.write(request)
            await reader.read(1)
            reader._transport.pause_reading()  # type: ignore[attr-defined]

    with suppress(OSError):
        await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
    return opened


def _held(
    what: str, count: int = _TUNNELS, use: Callable[[Streams], Awaitable[None]] | None = None
) -> Attack:
    async def attack(server: Attacked) -> None:
        opened = await _opened(server, what, count)
        try:
            if use is not None:
                async with asyncio.timeout(_SECONDS):
                    await asyncio.gather(*map(use, opened))
            await asyncio.sleep(_SECONDS)
        finally:
            for _, writer in opened:
                writer.transport.abort()

    return attack


async def _talk(streams: Streams) -> None:
    while True:
        streams[1].write(_PIECE)
        await streams[1].drain()


async def _short(server: Attacked) -> None:
    for _, writer in await _opened(server, "echoes", 20):
        writer.write(b"x")
        writer.transport.abort()


async def _watches(server: Attacked) -> None:
    request = server.head("/api/v1/namespaces/default/configmaps?watch=1", known=True) + b"\r\n"
    opened = await _connected(server, request, _WATCHES)
    try:
        await asyncio.sleep(_SECONDS)
    finally:
        for _, writer in opened:
            writer.transport.abort()


ATTACKS: dict[str, Attack] = {
    "tunnels that nobody reads": _held("talks"),
    "tunnels that a pod does not read": _held("reads-nothing", use=_talk),
    "tunnels that send back and nobody reads": _held("echoes", use=_talk),
    "tunnels that end at once": _short,
    "logs that are followed and nobody reads": _held("log"),
    "thousands of watches": _watches,
}
