"""Requests that are passed on to another server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from pybernetes.control_plane.apiserver.proxy.reverse_proxy import Target, forward
from pybernetes.control_plane.apiserver.request import Request


async def test_who_gives_up_hangs_up() -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        assert await reader.read() == b""
        gone.set()
        writer.close()

    nobody: Any = None
    async with await asyncio.start_server(hang, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        request = Request(nobody, "GET", "/x", "", {}, b"")
        waiting = asyncio.create_task(forward(request, Target("127.0.0.1", port, "/x")))
        await asyncio.wait_for(asked.wait(), 60)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(gone.wait(), 60)
