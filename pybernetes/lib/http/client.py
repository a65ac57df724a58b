"""Requests to other servers over TLS, on connections that are kept for the next request.

What can go wrong is told in the words that Go's HTTP client has for it, because clients of the API read them.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httptools

from pybernetes.lib.http.dialer import Dialer, direct

# Connections that are kept for one server, and for how long.
_MOST_IDLE = 25
_IDLE_SECONDS = 90.0
_MOST_BYTES = 32 * 1024 * 1024
_NAMES = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.ETIMEDOUT: "i/o timeout",
}


class RequestFailed(Exception):
    """There is no answer; the text says why."""


class _Lost(Exception):
    """The connection ended before an answer began."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A server: where it is, and the name that its certificate has to be good for."""

    host: str
    port: int
    context: ssl.SSLContext | None
    server_name: str = ""


@dataclass(slots=True)
class Reply:
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes


class HttpClient:
    """Sends requests; one client serves any number of peers."""

    def __init__(self, dialer: Dialer = direct) -> None:
        self._dialer = dialer
        self._idle: dict[Peer, list[_Connection]] = {}

    async def send(
        self, peer: Peer, method: str, path: str, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> Reply:
        """Sends one request; RequestFailed if no answer came in time."""
        host = f"[{peer.host}]" if ":" in peer.host else peer.host
        lines = [f"{method} {path} HTTP/1.1", f"Host: {peer.server_name or host}:{peer.port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines.append(f"Content-Length: {len(body)}")
        data = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(peer, data)
        except TimeoutError:
            raise RequestFailed("context deadline exceeded") from None

    async def _exchange(self, peer: Peer, data: bytes) -> Reply:
        while True:
            kept = self._take(peer)
            connection = kept or await self._connect(peer)
            try:
                reply = await connection.exchange(data)
            except _Lost:
                # The server may have ended a connection that was idle, which says nothing about a new one.
                if kept is None:
                    raise RequestFailed("EOF") from None
                continue
            except BaseException:
                connection.close()
                raise
            if connection.reusable:
                self._keep(peer, connection)
            else:
                connection.close()
            return reply

    async def _connect(self, peer: Peer) -> _Connection:
        name = (peer.server_name or peer.host) if peer.context else None
        where = f"[{peer.host}]:{peer.port}" if ":" in peer.host else f"{peer.host}:{peer.port}"
        try:
            connection = await self._dialer(
                _Connection, peer.host, peer.port, context=peer.context, server_name=name
            )
        except ssl.SSLCertVerificationError as error:
            raise RequestFailed(f"tls: failed to verify certificate: x509: {_distrust(error)}") from None
        except ssl.SSLError as error:
            raise RequestFailed(f"tls: {error.reason or error}") from None
        except OSError as error:
            why = _NAMES.get(error.errno or 0) or (error.strerror or str(error)).lower()
            raise RequestFailed(f"dial tcp {where}: connect: {why}") from None
        return connection

    def _take(self, peer: Peer) -> _Connection | None:
        waiting = self._idle.get(peer)
        while waiting:
            connection = waiting.pop()
            connection.rest(None)
            if not connection.lost:
                return connection
        return None

    def _keep(self, peer: Peer, connection: _Connection) -> None:
        waiting = self._idle.setdefault(peer, [])
        if len(waiting) >= _MOST_IDLE:
            connection.close()
            return
        waiting.append(connection)

        def end() -> None:
            connection.close()
            if connection in waiting:
                waiting.remove(connection)
            if not waiting and self._idle.get(peer) is waiting:
                del self._idle[peer]

        connection.rest(asyncio.get_running_loop().call_later(_IDLE_SECONDS, end))

    def close(self) -> None:
        """Ends every connection that is kept."""
        for waiting in self._idle.values():
            for connection in waiting:
                connection.rest(None)
                connection.close()
        self._idle.clear()


def _distrust(error: ssl.SSLCertVerificationError) -> str:
    text = error.verify_message or str(error)
    if "self-signed" in text or "self signed" in text or "unable to get" in text:
        return "certificate signed by unknown authority"
    if "expired" in text:
        return "certificate has expired or is not yet valid"
    return text


class _Connection(asyncio.Protocol):
    """One connection, with one request at a time."""

    def __init__(self) -> None:
        self.lost = False
        self.reusable = False
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Future[Reply] | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0

    async def exchange(self, data: bytes) -> Reply:
        """Sends a request and waits for the answer."""
        if self.lost or self._transport is None:
            raise _Lost
        self._waiting = asyncio.get_running_loop().create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._headers, self._body, self._size, self.reusable = {}, [], 0, False
        self._transport.write(data)
        return await self._waiting

    def rest(self, timer: asyncio.TimerHandle | None) -> None:
        """Sets the moment at which an idle connection ends."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer

    def close(self) -> None:
        """Ends the connection."""
        self.lost = True
        if self._transport is not None:
            self._transport.abort()

    # -- what the event loop and the parser call -----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        if self._parser is None or self._waiting is None or self._waiting.done():
            self.close()  # nobody asked
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(RequestFailed(f"net/http: HTTP/1.x transport connection broken: {error}"))

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(RequestFailed("unexpected EOF") if self._headers else _Lost())

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > _MOST_BYTES:
            self._fail(RequestFailed("http: response body too large"))
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        parser, waiting = self._parser, self._waiting
        if parser is None or waiting is None or waiting.done():
            return
        self.reusable = parser.should_keep_alive() and not self.lost
        waiting.set_result(Reply(parser.get_status_code(), self._headers, b"".join(self._body)))

    def _fail(self, error: Exception) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)
        self.close()
