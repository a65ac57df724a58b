"""A request passed on to another server, and its answer passed back: bodies, long streams and upgrades."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.proxy.links import led_back
from pybernetes.control_plane.apiserver.proxy.pages import PageBody, page_body
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.shared_turns import pieces, turns
from pybernetes.lib.http.client_connection import BadReply, ClientConnection, Disconnected, request_bytes
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.lib.http.duplex import Duplex, splice
from pybernetes.lib.http.messages import Reply, Response
from pybernetes.lib.http.pulled_stream import PulledStream
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.stalled_tunnels import patience
from pybernetes.lib.http.upgrade import named_headers, switching_protocols, upgraded, wanted_protocol

# Headers that belong to one connection, not to the message.
_HOP = frozenset((b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te", b"trailer",
                  b"transfer-encoding", b"upgrade", b"content-length", b"host"))  # fmt: skip
# Every answer of this server has a date and an id already; who may read its answers from other pages is its own affair.
_NOT_PASSED_BACK = _HOP | {
    b"date", b"audit-id", b"access-control-allow-credentials", b"access-control-allow-headers",
    b"access-control-allow-methods", b"access-control-allow-origin",
}  # fmt: skip
# What proves the client to us is not for whom we pass its request on to.
_PRIVATE = frozenset((b"authorization", b"cookie"))
_IDENTITY = (b"x-remote-", b"impersonate-")
# Answers that end with their headers.
_WITHOUT_BODY = (204, 304)
_CONNECT_SECONDS = 10.0
_REFUSAL_BYTES = 50_000
# How many parts of a page are changed at a time: what a client waits for, and what is kept for it.
_PIECES = 16
_NO_REDIRECTS = b"the backend attempted to redirect this request, which is not permitted"


class ProxyError(Exception):
    """The other server cannot be reached, or does not speak HTTP."""


class UpgradeError(Exception):
    """The other server answers a wish for another protocol with neither that nor a refusal, or without the wish."""


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
    redirects: bool = True  # whether the client may be sent elsewhere


async def forward(request: Request, target: Target, *, whole_refusals: bool = False) -> Answer:
    """Send the request on and return the answer; bytes of its body follow as they come.

    With ``whole_refusals`` an answer that says no is read to its end first, for who wants to say it differently.
    """
    wanted = wanted_protocol(request.headers) if target.upgrades else b""
    backend = await _connect(target)
    try:
        reply = await backend.open(_request(request, target, wanted))
        if reply.status == 101 or (wanted and reply.status < 400):
            return _switched(request, backend, reply, wanted)
        if whole_refusals and not 200 <= reply.status <= 206:
            return Response(await _refusal(backend), reply.status, b"text/plain")
    except Disconnected as error:
        raise ProxyError(str(error) if isinstance(backend.error, BadReply) else "unexpected EOF") from None
    if not target.redirects and 300 <= reply.status <= 399 and reply.header(b"location"):
        backend.close()
        return Response(_NO_REDIRECTS, 502, b"text/plain; charset=utf-8")
    content_type, headers, page = _translated(reply, target)
    if request.method == "HEAD" or reply.status in _WITHOUT_BODY:
        backend.close()
        return Response(b"", reply.status, content_type, headers)
    stream = PulledStream(_body(backend, page), content_type=content_type, status=reply.status)
    stream.headers = headers
    stream.on_close = backend.close
    return stream


def _switched(request: Request, backend: ClientConnection, reply: Reply, wanted: bytes) -> Answer:
    """Join both sides if the other one speaks another protocol now, as it was asked to.

    Otherwise it would be handed what its client means for this server: further requests, with credentials.
    """
    if reply.status == 101 and wanted:
        head = switching_protocols(reply.header_list)

        def serve(client: Duplex) -> Awaitable[None]:
            if request.local is not None:  # a part of this process: what it does not take is its own memory
                return splice(client, backend)
            unread = request.connection.server.unread
            return splice(client, backend, wait=patience(unread, request.owner(), client, backend))

        return upgraded(head, serve, abandon=backend.close)
    backend.close()
    if wanted:
        raise UpgradeError(f"invalid upgrade response: status code {reply.status}")
    protocol = go_format.quote(reply.header(b"upgrade"))
    raise UpgradeError(f'backend tried to switch protocol {protocol} when "" was requested')


async def _connect(target: Target) -> ClientConnection:
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            return await target.dialer(
                ClientConnection,
                target.host,
                target.port,
                context=target.tls,
                server_name=(target.server_name or None) if target.tls else None,
            )
    except (OSError, TimeoutError) as error:
        raise ProxyError(f"dial tcp {target.host}:{target.port}: {error or 'i/o timeout'}") from None


def _request(request: Request, target: Target, upgrade: bytes) -> bytes:
    """Return the request with the headers that are the other server's business, and with all that we say ourselves."""
    lines = [(b"Host", f"{target.host}:{target.port}".encode())]
    own = _HOP | named_headers(request.headers.get(b"connection", b""))
    for name, value in request.headers.items():
        if name in own or name in _PRIVATE or name.startswith(_IDENTITY):
            continue
        if not target.upgrades and name.startswith(b"sec-websocket-"):
            continue
        if name not in target.headers:
            lines.append((name, value))
    lines += [*target.headers.items(), *target.more]
    if upgrade:
        lines += [(b"Connection", b"Upgrade"), (b"Upgrade", upgrade)]
    return request_bytes(request.method, target.path, lines, request.body)


def _translated(
    reply: Reply, target: Target
) -> tuple[bytes, tuple[tuple[bytes, bytes], ...], PageBody | None]:
    """Return the content type, the headers that are passed back, and what changes the links of a page."""
    content_type, encoding = b"application/octet-stream", b""
    host = f"{target.host}:{target.port}"
    headers = []
    dropped = _NOT_PASSED_BACK | named_headers(b",".join(reply.values(b"connection")))
    for name, value in reply.header_list:
        lower = name.lower()
        if lower == b"content-type":
            content_type = value
        elif lower == b"location" and target.prefix:
            location = led_back(value.decode("latin-1"), target.prefix, host)
            headers.append((name, location.encode("latin-1")))
        elif lower not in dropped:
            headers.append((name, value))
            encoding = value.lower() if lower == b"content-encoding" else encoding
    return content_type, tuple(headers), page_body(target.prefix, host, content_type, encoding)


async def _refusal(backend: ClientConnection) -> bytes:
    """Return what the other server says, up to a limit."""
    body = b""
    try:
        while len(body) < _REFUSAL_BYTES and (data := await backend.read()):
            body += data
    finally:
        backend.close()
    return body[:_REFUSAL_BYTES]


def _some(parts: Iterator[bytes]) -> bytes | None:
    """Return some of the parts as one; None after the last."""
    taken = list(islice(parts, _PIECES))
    return b"".join(taken) if taken else None


async def _body(backend: ClientConnection, page: PageBody | None) -> AsyncIterator[bytes]:
    try:
        while data := await backend.read():
            if page is None:
                for piece in pieces(data):
                    await turns.mine()
                    yield piece
                continue
            parts = page.feed(data)
            # However small a part is: those of many pages would be changed in one turn of the loop.
            while (changed := await off_loop.beside(_some, parts)) is not None:
                yield changed
        if page is not None:
            yield await off_loop.beside(page.finish)
    finally:
        backend.close()
