"""A small HTTP server for what every component shows: health, readiness and metrics. GET only."""

from __future__ import annotations

import asyncio
import inspect
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

import httptools

from pybernetes.api import zpages
from pybernetes.lib import listener
from pybernetes.lib.serving_certificates import verified_chain

_TEXT = "text/plain; charset=utf-8"
_HEADER_LIMIT = 64 * 1024
_END = "\r\n"


class Page(NamedTuple):
    """An answer."""

    body: bytes
    status: int = 200
    content_type: str = _TEXT
    headers: tuple[tuple[str, str], ...] = ()


class Asked(NamedTuple):
    """A request: what was asked, and by whom as far as the connection tells."""

    path: str
    query: str
    headers: dict[str, str]
    certificate: dict[str, Any] | None
    chain: frozenset[bytes] = frozenset()  # fingerprints of who vouches for the certificate
    repeated: dict[str, list[str]] = {}  # the headers with all of their values


Handler = Callable[[Asked], "Page | Awaitable[Page]"]
# Gives None to go on, or the answer to somebody who may not ask.
Gate = Callable[[Asked], "Awaitable[Page | None]"]
# None when all is well, or a text that says what is not.
Check = Callable[[], "str | None"]


class Checks:
    """Named checks behind a path such as ``/healthz``; ``/healthz/name`` runs one of them."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {"ping": lambda: None}

    def add(self, name: str, check: Check) -> None:
        """Adds a check."""
        self._checks[name] = check

    def page(self, asked: Asked) -> Page:
        """Runs the checks: ``ok``, or which of them fail."""
        first, _, name = asked.path.strip("/").partition("/")
        if name and name not in self._checks:
            return Page(b"404 page not found\n", 404)
        chosen = {name: self._checks[name]} if name else self._checks
        lines, failed = [], False
        for each, check in chosen.items():
            problem = check()
            failed = failed or problem is not None
            lines.append(f"[-]{each} failed: {problem}" if problem is not None else f"[+]{each} ok")
        if failed:
            return Page(("\n".join(lines) + f"\n{first} check failed\n").encode(), 500)
        if "verbose" in asked.query:
            return Page(("\n".join(lines) + f"\n{first} check passed\n").encode())
        return Page(b"ok")


def zpages_of(name: str, flags: Mapping[str, str], paths: Iterable[str]) -> dict[str, Handler]:
    """The handlers of /statusz and /flagz for a component that serves some other paths."""
    pages = zpages.Zpages(name, flags, lambda: paths)

    def show(asked: Asked) -> Page:
        return Page(*pages.answer(asked.path, asked.headers.get("accept", "")))

    return dict.fromkeys(zpages.PATHS, show)


class ComponentServer:
    """Listens and answers. ``pages`` maps paths, or their first parts, to handlers."""

    def __init__(self, pages: dict[str, Handler], *, gate: Gate | None = None) -> None:
        self.pages, self.gate = pages, gate
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()
        self.port = 0

    async def start(self, host: str, port: int, context: ssl.SSLContext | None = None) -> int:
        """Listens; gives the port, which matters when it was asked for port 0."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), host, port, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self.port

    async def stop(self) -> None:
        """Stops listening and drops clients."""
        if self._server is not None:
            await listener.close(self._server)
        for connection in list(self._connections):
            connection.transport.abort()

    async def answer(self, asked: Asked) -> Page:
        """The answer to a request."""
        if self.gate is not None:
            refused = await self.gate(asked)
            if refused is not None:
                return refused
        handler = self.pages.get(asked.path) or self.pages.get("/" + asked.path.split("/")[1])
        if handler is None:
            return Page(b"404 page not found\n", 404)
        page = handler(asked)
        return await page if inspect.isawaitable(page) else page


class _Connection(asyncio.Protocol):
    def __init__(self, server: ComponentServer) -> None:
        self.server = server
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self._parser: Any = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self._parser = httptools.HttpRequestParser(self)
        self.server._connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.server._connections.discard(self)
        if self._task is not None:
            self._task.cancel()
        self._parser = None

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.transport.abort()

    def on_message_begin(self) -> None:
        self._target, self._size = b"", 0
        self._headers: dict[str, str] = {}
        self._repeated: dict[str, list[str]] = {}

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._size += len(name) + len(value)
        if self._size > _HEADER_LIMIT:
            self.transport.abort()
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self._headers.setdefault(key, text)
        self._repeated.setdefault(key, []).append(text)

    def on_message_complete(self) -> None:
        method, keep = self._parser.get_method().decode(), self._parser.should_keep_alive()
        if self._task is not None and not self._task.done():
            self.transport.abort()  # requests come one after the other
            return
        path, _, query = self._target.decode("latin-1").partition("?")
        tls = self.transport.get_extra_info("ssl_object")
        certificate = tls.getpeercert() if tls is not None else None
        chain = verified_chain(tls) if certificate else frozenset[bytes]()
        asked = Asked(path, query, self._headers, certificate, chain, self._repeated)
        self._task = asyncio.get_running_loop().create_task(self._respond(method, asked, keep))

    async def _respond(self, method: str, asked: Asked, keep: bool) -> None:
        if method not in ("GET", "HEAD"):
            page = Page(b"method not allowed\n", 405)
        else:
            try:
                page = await self.server.answer(asked)
            except Exception as error:
                page = Page(f"{type(error).__name__}: {error}\n".encode(), 500)
        status = HTTPStatus(page.status)
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {page.content_type}\r\n"
            f"Content-Length: {len(page.body)}\r\nX-Content-Type-Options: nosniff\r\n"
            f"{''.join(f'{name}: {value}{_END}' for name, value in page.headers)}"
            f"{'' if keep else 'Connection: close' + _END}\r\n"
        )
        self.transport.write(head.encode() + (b"" if method == "HEAD" else page.body))
        if not keep:
            self.transport.close()
