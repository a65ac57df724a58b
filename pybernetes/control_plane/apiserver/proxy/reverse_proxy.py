"""A request passed on to another server, and its answer passed back: bodies, long streams and upgrades."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field

import httptools

from pybernetes.control_plane.apiserver.proxy import links
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer, Upgrade
from pybernetes.lib.http.stream import Stream, chunk

# Headers that belong to one connection, not to the message.
_HOP = frozenset((b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te", b"trailer",
                  b"transfer-encoding", b"upgrade", b"content-length", b"host"))  # fmt: skip
# Every answer of this server has a date and an id already.
_NOT_PASSED_BACK = _HOP | {b"date", b"audit-id"}
# What proves the client to us is not for whom we pass its request on to.
_PRIVATE = frozenset((b"authorization", b"cookie"))
_IDENTITY = (b"x-remote-", b"impersonate-")
# Answers that end with their headers.
_WITHOUT_BODY = (204, 304)
_CONNECT_SECONDS = 10.0
_REFUSAL_BYTES = 50_000


class ProxyError(Exception):
    """The other server cannot be reached, or does not speak HTTP."""


@dataclass(slots=True)
class Target:
    """Where a request goes."""

    host: str
    port: int
    path: str
    tls: ssl.SSLContext | None = None
    server_name: str = ""
    headers: dict[bytes, bytes] = field(default_factory=dict)
    dialer: Dialer = direct
    upgrades: bool = True  # whether the other server is to see that the client wants another protocol
    more: list[tuple[bytes, bytes]] = field(default_factory=list)  # headers that may come more than once
    prefix: str = ""  # where links of pages are to lead, so that they come through here again


async def forward(request: Request, target: Target, *, whole_refusals: bool = False) -> Answer:
    """Send the request on and return the answer; the bytes of its body follow as they come.

    With ``whole_refusals`` an answer that says no is read to its end first, for who wants to say it differently.
    """
    backend = _Backend(request, target, whole_refusals)
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            await target.dialer(
                lambda: backend,
                target.host,
                target.port,
                context=target.tls,
                server_name=(target.server_name or None) if target.tls else None,
            )
    except (OSError, ssl.SSLError, TimeoutError) as error:
        raise ProxyError(f"dial tcp {target.host}:{target.port}: {error or 'i/o timeout'}") from None
    backend.send(target)
    try:
        return await backend.answer
    except asyncio.CancelledError:  # the client has gone, or the request took too long
        backend.transport.close()
        raise


class _Backend(asyncio.Protocol):
    """The connection to the other server."""

    def __init__(self, request: Request, target: Target, whole_refusals: bool) -> None:
        self.request, self._target, self._whole_refusals = request, target, whole_refusals
        self._page: links.Page | None = None
        self._refusal: bytearray | None = None
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._stream: Stream | None = None
        self._client: asyncio.Transport | None = None
        self._early = b""
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def send(self, target: Target) -> None:
        """Send the request with the headers that concern the other server."""
        request = self.request
        lines = [
            f"{request.method} {target.path} HTTP/1.1".encode(),
            f"Host: {target.host}:{target.port}".encode(),
        ]
        for name, value in request.headers.items():
            if name in _HOP or name in _PRIVATE or name.startswith(_IDENTITY):
                continue
            if not target.upgrades and name.startswith(b"sec-websocket-"):
                continue
            if name not in target.headers:
                lines.append(name + b": " + value)
        lines += [name + b": " + value for name, value in (*target.headers.items(), *target.more)]
        if b"upgrade" in request.headers and target.upgrades:
            lines += [b"Connection: Upgrade", b"Upgrade: " + request.headers[b"upgrade"]]
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            lines.append(b"Content-Length: %d" % len(request.body))
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + request.body)

    # -- the answer --------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._client is not None:
            self._client.write(data)
            return
        if self.answer.done() and self._stream is None:
            self._early += data  # after an upgrade, before the client's side took over
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._early = data[upgrade.args[0] :]
        except httptools.HttpParserError as error:
            self._fail(f"malformed HTTP response: {error}")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status == 101:
            self.answer.set_result(Upgrade(self._take_over))
            return
        if status < 200:
            self._headers.clear()
            return
        if self._whole_refusals and not 200 <= status <= 206:
            self._refusal = bytearray()
            return
        self._stream = stream = Stream(status=status, content_type=b"application/octet-stream")
        kept, encoding, target = [], b"", self._target
        host = f"{target.host}:{target.port}"
        for name, value in self._headers:
            lower = name.lower()
            if lower == b"content-type":
                stream.content_type = value
            elif lower == b"location" and target.prefix:
                led = links.led_back(value.decode("latin-1"), target.prefix, host)
                kept.append((name, led.encode("latin-1")))
            elif lower not in _NOT_PASSED_BACK:
                kept.append((name, value))
                encoding = value.lower() if lower == b"content-encoding" else encoding
        self._page = links.page(target.prefix, host, stream.content_type, encoding)
        stream.headers = tuple(kept)
        stream.on_close = self._client_gone
        if self.request.method == "HEAD" or status in _WITHOUT_BODY:
            self._stream = None
            self._ended = True
            self.answer.set_result(Response(b"", status, stream.content_type, stream.headers))
            self.transport.close()
            return
        self.answer.set_result(stream)

    def on_body(self, data: bytes) -> None:
        if self._refusal is not None:
            self._refusal += data[: _REFUSAL_BYTES - len(self._refusal)]
        if self._stream is not None:
            if self._page is not None:
                data = self._page.feed(data)
            if data:
                self._stream.write(chunk(data))

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < 200:  # the head of an upgrade, or of an answer that is to come
            return
        self._ended = True
        if self._refusal is not None:
            status = self._parser.get_status_code()
            self.answer.set_result(Response(bytes(self._refusal), status, b"text/plain"))
        self._finish()
        self.transport.close()

    def _finish(self) -> None:
        if self._stream is not None:
            rest = self._page.finish() if self._page is not None else b""
            if rest:
                self._stream.write(chunk(rest))
            self._stream.finish()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.answer.done():
            self._fail("unexpected EOF")
        if self._client is not None:
            self._client.close()
        elif self._stream is not None and not self._ended:
            # Without a length the end of the connection is the end of the body; a broken one is cut short.
            self._finish()

    def _fail(self, text: str) -> None:
        if not self.answer.done():
            self.answer.set_exception(ProxyError(text))
        elif self._stream is not None:
            self._stream.finish()
        self.transport.close()

    def _client_gone(self) -> None:
        self.transport.close()

    # -- after an upgrade --------------------------------------------------------------------------------

    def _take_over(self, client: asyncio.Transport, leftover: bytes) -> asyncio.Protocol:
        lines = [b"HTTP/1.1 101 Switching Protocols"]
        lines += [name + b": " + value for name, value in self._headers]
        client.write(b"\r\n".join(lines) + b"\r\n\r\n" + self._early)
        self._client = client
        if leftover:
            self.transport.write(leftover)
        return _Client(self.transport, client)

    def pause_writing(self) -> None:
        if self._client is not None:
            self._client.pause_reading()

    def resume_writing(self) -> None:
        if self._client is not None:
            self._client.resume_reading()


class _Client(asyncio.Protocol):
    """The client's side of an upgraded connection: every byte goes to the other server."""

    def __init__(self, backend: asyncio.Transport, client: asyncio.Transport) -> None:
        self.backend, self.client = backend, client

    def data_received(self, data: bytes) -> None:
        self.backend.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.backend.close()

    def pause_writing(self) -> None:
        self.backend.pause_reading()

    def resume_writing(self) -> None:
        self.backend.resume_reading()
