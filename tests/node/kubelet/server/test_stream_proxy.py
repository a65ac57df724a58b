"""Streams between a client and the container runtime."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.lib.http.websocket_connection import WebSocket
from pybernetes.node.kubelet.server.stream_proxy import ERROR, STDOUT, _channels


class Raw:
    """The connection of a client that is silent, or has left."""

    def __init__(self, left: bool) -> None:
        self._left = left
        self.sent = bytearray()

    async def read(self) -> bytes:
        if not self._left:
            await asyncio.Event().wait()
        return b""

    def write(self, data: bytes) -> None:
        self.sent += data

    async def drain(self) -> None:
        """Everything is taken at once."""

    def close(self) -> None:
        """Nothing is there to close."""


class Stream:
    """What a runtime sends on a stream before the stream, or the whole connection, ends."""

    def __init__(self, *pieces: bytes, ends: bool = True) -> None:
        self._pieces, self._ends = list(pieces), ends

    async def read(self) -> bytes:
        if not self._pieces and not self._ends:
            await asyncio.Event().wait()
        return self._pieces.pop(0) if self._pieces else b""


@pytest.mark.parametrize(
    ("errors", "left", "done"),
    [
        (Stream(b'{"status":"Success"}'), False, True),
        (Stream(), False, False),  # the runtime has gone away
        (Stream(ends=False), True, True),
    ],
)
async def test_a_runtime_that_goes_away_is_no_end_of_a_process(
    errors: Stream, left: bool, done: bool
) -> None:
    raw = Raw(left)
    opened: Any = {STDOUT: Stream(b"out"), ERROR: errors}
    assert await asyncio.wait_for(_channels(WebSocket(raw, "", client=False), opened), 60) == done
