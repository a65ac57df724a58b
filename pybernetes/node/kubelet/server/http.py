"""HTTP/1.1, the server's side, with bodies that go on and connections that become something else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote

from pybernetes.lib import listener

_HEAD_SECONDS = 30.0
_IDLE_SECONDS = 90.0
_BODY_LIMIT = 1 << 20
_TEXT = "text/plain; charset=utf-8"


@dataclass(slots=True)
class Request:
    """What was asked, and by whom as far as the connection tells. Names of headers are in lower case."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    certificate: dict[str, Any] | None
    connection: Connection
    body: bytes = b""
    user: dict[str, Any] = field(default_factory=dict)

    def parameter(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        return self.query.get(name, [default])[0]

    def flag(self, name: str) -> bool:
        """Whether a query parameter says yes."""
        return self.parameter(name).lower() in ("1", "true", "t")

    @property
    def upgrade(self) -> str:
        """What the connection is to become, in lower case."""
        return self.headers.get("upgrade", "").lower()


@dataclass(slots=True)
class Response:
    """An answer as a whole, or with a body that comes in pieces."""

    body: bytes | AsyncIterator[bytes] = b""
    status: int = 200
    content_type: str = _TEXT


class Problem(Exception):
    """An answer that says what is wrong."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


# None means that the handler has taken the connection over and is done with it.
Handler = Callable[[Request], Awaitable[Response | None]]


class Connection:
    """One client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def read_request(self) -> Request | None:
        """The next request; None if there is none."""
        async with asyncio.timeout(_IDLE_SECONDS):
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                return None
        first, *lines = head[:-4].decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return None
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            key = name.strip().lower()
            headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
        path, _, query = words[1].partition("?")
        tls = self.writer.get_extra_info("ssl_object")
        request = Request(
            words[0], unquote(path), parse_qs(query, keep_blank_values=True), headers,
            tls.getpeercert() if tls is not None else None, self,
        )  # fmt: skip
        length = int(headers.get("content-length") or 0)
        if length > _BODY_LIMIT:
            return None
        if length:
            async with asyncio.timeout(_HEAD_SECONDS):
                request.body = await self.reader.readexactly(length)
        return request

    async def answer(self, response: Response, *, keep: bool, head_only: bool) -> bool:
        """Sends an answer; gives whether the connection can be used again."""
        status = HTTPStatus(response.status)
        lines = [f"HTTP/1.1 {status.value} {status.phrase}", f"Content-Type: {response.content_type}"]
        if isinstance(response.body, bytes):
            lines.append(f"Content-Length: {len(response.body)}")
            if not keep:
                lines.append("Connection: close")
            self.writer.write(
                "\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if head_only else response.body)
            )
            await self.writer.drain()
            return keep
        lines.append("Transfer-Encoding: chunked")
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        await self.writer.drain()
        # Whoever reads a long body may leave while nothing comes: that ends it as well.
        gone = asyncio.ensure_future(self.reader.read(1))
        pieces = response.body.__aiter__()
        try:
            while not head_only:
                piece = asyncio.ensure_future(pieces.__anext__())
                await asyncio.wait((piece, gone), return_when=asyncio.FIRST_COMPLETED)
                if not piece.done():
                    piece.cancel()
                    await asyncio.gather(piece, return_exceptions=True)
                    return False
                try:
                    data = piece.result()
                except StopAsyncIteration:
                    break
                if data:
                    self.writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                    await self.writer.drain()
            self.writer.write(b"0\r\n\r\n")
            await self.writer.drain()
        finally:
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()
        return False  # a byte of the next request may have been read


class HttpServer:
    """Listens, and has each request handled."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self, host: str, port: int, context: Any = None) -> int:
        """Listens; gives the port."""
        server = await asyncio.start_server(self._accepted, host, port, ssl=context, limit=1 << 17)
        self._servers.append(server)
        return server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stops listening and ends every connection."""
        for server in self._servers:
            await listener.close(server)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = Connection(reader, writer)
        try:
            while True:
                request = await connection.read_request()
                if request is None:
                    break
                response = await self._respond(request)
                if response is None:
                    break
                keep = request.headers.get("connection", "").lower() != "close"
                if not await connection.answer(response, keep=keep, head_only=request.method == "HEAD"):
                    break
        except (OSError, TimeoutError, ValueError):
            pass  # a client that left or does not speak HTTP
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(Exception):
                writer.close()

    async def _respond(self, request: Request) -> Response | None:
        try:
            return await self._handler(request)
        except Problem as problem:
            return Response(problem.message.encode(), problem.status)
        except Exception as error:
            import logging

            logging.getLogger(__name__).exception("%s %s", request.method, request.path)
            return Response(f"{type(error).__name__}: {error}".encode(), 500)
