"""Answers of servers that somebody else wrote, through the ``proxy`` of a pod; and clients of them that do not read.

The pod is this process, at an address of this machine that is not loopback: loopback is refused.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace

from bench.harness.attacked import Attack, Attacked
from bench.harness.shared_server import ADMIN, PODS
from pybernetes.lib.http import websocket

_PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
_SIZE = 4_000_000
_ANSWERS = {
    "tags": _PAGE + b"\r\n" + b"<a " * (_SIZE // 3),
    "quotes": _PAGE + b"\r\n" + b"<a href='" * (_SIZE // 9),
    "links": _PAGE + b"\r\n" + b"<a href='/x'>" * (_SIZE // 13),
    "bomb": _PAGE + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"\0" * (256 << 20)),
    "packed": _PAGE + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<a href='/x'>" + os.urandom(_SIZE)),
    "large": b"HTTP/1.1 200 OK\r\nContent-Length: 150000000\r\n\r\n" + b"x" * 150_000_000,
    "head": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000_000,
    "trailer": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: " + b"y" * (16 << 20),
}
_POD = b'{"metadata":{"name":"answers"},"spec":{"nodeName":"none","containers":[{"name":"c","image":"i"}]}}'
# The port of the pod's server, by the port of the API server that knows it, and the loop that it runs on.
_ready: dict[tuple[int, int], asyncio.Task[int]] = {}


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        request = await reader.readuntil(b"\r\n\r\n")
        writer.write(_ANSWERS[request.split(b" ", 2)[1].decode().strip("/")])
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))  # nothing is sent
        return asked.getsockname()[0]


async def prepared(
    server: Attacked, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
) -> int:
    """Have a pod whose server answers so; return its port."""
    address = _own_address()
    listening = await asyncio.start_server(serve, address, 0)
    admin = replace(server, token=ADMIN)
    status = b'{"status":{"podIP":"%b","podIPs":[{"ip":"%b"}]}}' % (address.encode(), address.encode())
    for method, target, kind, body in (
        ("POST", PODS, b"application/json", _POD),
        ("PATCH", f"{PODS}/answers/status", b"application/merge-patch+json", status),
    ):
        head = admin.head(target, method, known=True)
        answer = await admin.send(
            head + b"Content-Type: %b\r\nContent-Length: %d\r\n\r\n%b" % (kind, len(body), body)
        )
        assert answer.startswith((b"HTTP/1.1 20", b"HTTP/1.1 409")), (
            answer
        )  # it may be there from the attack before
    return listening.sockets[0].getsockname()[1]


async def _request(server: Attacked, what: str) -> bytes:
    """Return the request for an answer, once there is a pod that gives it."""
    key = (server.port, id(asyncio.get_running_loop()))
    if key not in _ready:
        _ready[key] = asyncio.create_task(prepared(server, _answer))
    port = await asyncio.shield(_ready[key])
    admin = replace(server, token=ADMIN)
    return admin.head(f"{PODS}/answers:{port}/proxy/{what}", known=True) + b"Connection: close\r\n\r\n"


def _read(what: str) -> Attack:
    async def attack(server: Attacked) -> None:
        await server.send(await _request(server, what), until_end=True)

    return attack


async def _unread(server: Attacked) -> None:
    request = await _request(server, "large")
    opened = [await server.connect() for _ in range(5)]
    try:
        for reader, writer in opened:
            reader._transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(request)
        await asyncio.sleep(2)
    finally:
        for _, writer in opened:
            writer.transport.abort()


async def _messages(server: Attacked) -> None:
    head = server.head("/api/v1/pods?watch=1", known=True)
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n"
    await server.send(head + upgrade, *[websocket.frame(websocket.PING, b"", mask=b"abcd") * 10_000] * 100)


ATTACKS: dict[str, Attack] = {
    "a page of tags that do not end": _read("tags"),
    "a page of quotes that do not end": _read("quotes"),
    "a page of links": _read("links"),
    "a packed page that holds a lot": _read("bomb"),
    "a packed page": _read("packed"),
    "an answer whose head does not end": _read("head"),
    "an answer whose trailer does not end": _read("trailer"),
    "answers of a pod that nobody reads": _unread,
    "pings over a watch": _messages,
}
