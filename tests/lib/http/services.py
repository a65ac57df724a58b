"""A server with an application of a test's own, and clients that behave badly."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import uvloop

from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.stream import Stream, chunk

QUICK = Limits(head_seconds=0.4, receive_seconds=0.8, idle_seconds=1.2, stall_seconds=1, linger_seconds=0.3)


def refusal(status: int, message: str) -> Response:
    return Response(json.dumps({"code": status, "message": message}).encode(), status)


@dataclass
class Client:
    """One connection to the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> tuple[int, bytes]:
        """Return the next response."""
        status = int((await self.reader.readline()).split()[1])
        length = 0
        while (line := await self.reader.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return status, await self.reader.readexactly(length)

    async def ended(self) -> bytes:
        """Return what comes until the server closes the connection."""
        try:
            return await self.reader.read()
        except (ConnectionError, ssl.SSLError):
            return b""


class Service:
    """A server with an application of the test's own."""

    def __init__(self, server: Server, port: int, context: ssl.SSLContext) -> None:
        self.server, self.port, self.context = server, port, context

    async def connect(self, **options: Any) -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", self.port, ssl=self.context, **options))


class Unreading:
    """A client that reads nothing until it is told to; streams of asyncio read ahead."""

    def __init__(self, service: Service, request: bytes) -> None:
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        plain.connect(("127.0.0.1", service.port))
        self._socket = service.context.wrap_socket(plain, server_hostname="127.0.0.1")
        self._socket.sendall(request)

    @classmethod
    async def connect(cls, service: Service, request: bytes) -> Unreading:
        return await asyncio.to_thread(cls, service, request)

    async def read(self, end: bytes) -> bytes:
        """Return what comes, up to an end."""

        def all_of_it() -> bytes:
            text = bytearray()
            while not text.endswith(end) and (data := self._socket.recv(1 << 20)):
                text += data
            return bytes(text)

        return await asyncio.to_thread(all_of_it)

    def close(self) -> None:
        self._socket.close()


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a test on the event loop that the server runs on."""

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await coroutine

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(bounded())


def echo(request: Request) -> Response:
    return Response(f"{request.method} {request.path} {len(request.body)}".encode())


GET = b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n"


class Watches:
    """An application whose every request opens a stream."""

    def __init__(self, first: bytes = b"") -> None:
        self.streams: list[Stream] = []
        self.first = first
        self.closed = 0

    def __call__(self, request: Request) -> Stream:
        stream = Stream()
        stream.on_open = lambda: stream.write(chunk(self.first)) if self.first else None
        stream.on_close = self._count
        self.streams.append(stream)
        return stream

    def _count(self) -> None:
        self.closed += 1
