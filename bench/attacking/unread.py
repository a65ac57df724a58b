"""Answers that nobody reads, and connections that nobody uses."""

from __future__ import annotations

import asyncio
import socket

from bench.harness.attacked import Attack, Attacked

_SECONDS = 2.0


async def _hold(server: Attacked, request: bytes, clients: int) -> None:
    """Send a request over many connections and read nothing of what comes."""
    opened = await asyncio.gather(*(asyncio.to_thread(_ask, server, request) for _ in range(clients)))
    try:
        await asyncio.sleep(_SECONDS)
    finally:
        for connection in opened:
            connection.close()


def _ask(server: Attacked, request: bytes) -> socket.socket:
    # Streams of asyncio read ahead; this reads nothing, and the kernel little.
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", server.port))
    if server.tls is not None:
        connection = server.tls.wrap_socket(connection)
    connection.sendall(request)
    return connection


async def _lists(server: Attacked) -> None:
    await _hold(server, server.head("/api/v1/pods", known=True) + b"\r\n", 30)


async def _lists_with_a_selector(server: Attacked) -> None:
    await _hold(server, server.head("/api/v1/pods?labelSelector=app%3Dbench", known=True) + b"\r\n", 30)


async def _pipelined_lists(server: Attacked) -> None:
    await _hold(server, (server.head("/api/v1/pods", known=True) + b"\r\n") * 50, 10)


async def _watches(server: Attacked) -> None:
    await _hold(server, server.head("/api/v1/pods?watch=1", known=True) + b"\r\n", 30)


async def _documents(server: Attacked) -> None:
    await _hold(server, server.head("/openapi/v2", known=True) + b"\r\n", 30)


async def _handshakes(server: Attacked) -> None:
    await Attacked(server.port).send(b"\x16\x03\x01\x02\x00\x01\x00")


async def _connections(server: Attacked) -> None:
    opened = []
    try:
        for _ in range(100):
            opened.append(await server.connect())
        await asyncio.sleep(_SECONDS)
    finally:
        for _, writer in opened:
            writer.transport.abort()


ATTACKS: dict[str, Attack] = {
    "lists that nobody reads": _lists,
    "lists with a selector that nobody reads": _lists_with_a_selector,
    "pipelined lists that nobody reads": _pipelined_lists,
    "watches that nobody reads": _watches,
    "documents that nobody reads": _documents,
    "handshakes that stop": _handshakes,
    "connections that say nothing": _connections,
}
