"""Answers of webhooks, kubelets and aggregated servers: read whole or refused, never more than there is."""

from __future__ import annotations

import asyncio
from typing import Any

from fuzz.engine.target import Target
from pybernetes.lib.http.client_connection import ClientConnection, Disconnected


class _Wire:
    def __init__(self, connection: ClientConnection) -> None:
        self._connection, self.aborted = connection, False

    def abort(self) -> None:
        self.aborted = True

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


async def _read(data: bytes, lenient: bool) -> None:
    connection = ClientConnection(limit=1 << 16, lenient=lenient)
    wire = _Wire(connection)
    connection.connection_made(wire)  # type: ignore[arg-type]
    waiting = asyncio.ensure_future(connection.request(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
    await asyncio.sleep(0)
    step = max(1, len(data) // 3)
    for at in range(0, len(data), step):
        if not wire.aborted:
            connection.data_received(data[at : at + step])
    connection.connection_lost(None)
    try:
        reply = await waiting
    except Disconnected:
        return
    assert 100 <= reply.status <= 999 and len(reply.body) <= len(data)


def run(data: bytes) -> None:
    """Read the bytes as an answer, strictly and leniently."""
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(_read(data, False))
        loop.run_until_complete(_read(data, True))
    finally:
        loop.close()


TARGET = Target(
    run,
    (ConnectionError,),
    seeds=(
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\nrest",
    ),
    words=(
        b"HTTP/1.1 ", b"HTTP/1.0 ", b"200 OK\r\n", b"204", b"304", b"101", b"999", b"Content-Length: 5\r\n", b"\r\n", b"\n",
        b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"Connection: close\r\n", b"ffffffff\r\n",
    ),
    per_byte=50e-6,
)  # fmt: skip
