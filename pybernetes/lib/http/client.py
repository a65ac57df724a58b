"""Requests to other servers, on connections that are kept for the next request.

What can go wrong is told in the words that Go's HTTP client has for it, because clients of the API read them.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pybernetes.lib.http.client_connection import BadReply, ClientConnection, Disconnected, request_bytes
from pybernetes.lib.http.connection_pool import ConnectionPool
from pybernetes.lib.http.dialer import Dialer, ProxyError, direct
from pybernetes.lib.http.messages import Reply

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


class Distrusted(RequestFailed):
    """The certificate of a server was not accepted; ``code`` is OpenSSL's number of the reason."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Peer:
    """A server: where it is, the name that its certificate has to be good for, and its own way there, if it has one."""

    host: str
    port: int
    context: ssl.SSLContext | None
    server_name: str = ""
    dialer: Dialer | None = None

    @property
    def address(self) -> str:
        """Host and port, as one text."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class HttpClient:
    """A client for any number of peers.

    Answers have at most so many bytes; connections are kept, so many for one peer and so many in all.
    """

    def __init__(
        self,
        dialer: Dialer = direct,
        *,
        most_bytes: int = _MOST_BYTES,
        most_idle: int = _MOST_IDLE,
        most_kept: int | None = None,
    ) -> None:
        self._dialer = dialer
        self._most_bytes, self._most_idle, self._most_kept = most_bytes, most_idle, most_kept
        self._pools: dict[
            Peer, ConnectionPool
        ] = {}  # of peers that there are connections to, and of no others

    async def send(
        self, peer: Peer, method: str, path: str, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> Reply:
        """Send one request; RequestFailed if no answer came in time."""
        host = f"{peer.server_name}:{peer.port}" if peer.server_name else peer.address
        lines = [(name.encode(), value.encode()) for name, value in (("Host", host), *headers.items())]
        data = request_bytes(method, path, lines, body)
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(peer, data)
        except TimeoutError:
            raise RequestFailed("context deadline exceeded") from None

    async def _exchange(self, peer: Peer, data: bytes) -> Reply:
        while True:
            pool = self._pools.get(peer)
            kept = None if pool is None else pool.take()
            connection = kept or await self._connect(peer)
            try:
                reply = await connection.request(data)
            except Disconnected as error:
                if isinstance(connection.error, BadReply):
                    text = f"net/http: HTTP/1.x transport connection broken: {error}"
                    raise RequestFailed(text) from None
                # The server may have ended a connection that was idle, which says nothing about a new one.
                if kept is None or error.begun:
                    raise RequestFailed("unexpected EOF" if error.begun else "EOF") from None
                continue
            pool = self._pools.get(peer)
            if pool is None or (self._most_kept is not None and len(self._pools) > self._most_kept):
                connection.close()
            else:
                pool.give_back(connection)
            return reply

    def _pool(self, peer: Peer) -> ConnectionPool:
        pool = self._pools.get(peer)
        if pool is None:
            pool = ConnectionPool(
                seconds=_IDLE_SECONDS, most=self._most_idle, on_empty=partial(self._drop, peer)
            )
            self._pools[peer] = pool
        return pool

    def _drop(self, peer: Peer, pool: ConnectionPool) -> None:
        if self._pools.get(peer) is pool:  # and not one that was made since
            del self._pools[peer]

    async def _connect(self, peer: Peer) -> ClientConnection:
        name = (peer.server_name or peer.host) if peer.context else None
        try:
            connection = await (peer.dialer or self._dialer)(
                lambda: ClientConnection(limit=self._most_bytes), peer.host, peer.port, context=peer.context,
                server_name=name,
            )  # fmt: skip
        except ssl.SSLCertVerificationError as error:
            raise Distrusted(connect_problem(error, peer.address), error.verify_code) from None
        except OSError as error:
            raise RequestFailed(connect_problem(error, peer.address)) from None
        self._pool(peer).add(connection)
        return connection

    async def certificate(self, peer: Peer, context: ssl.SSLContext, seconds: float) -> bytes | None:
        """Return the certificate (DER) that a server shows to a client with this context, or None."""
        try:
            async with asyncio.timeout(seconds):
                connection = await (peer.dialer or self._dialer)(
                    ClientConnection, peer.host, peer.port, context=context, server_name=peer.server_name or peer.host
                )  # fmt: skip
        except OSError:
            return None
        try:
            shown = connection.transport.get_extra_info("ssl_object") if connection.transport else None
            return None if shown is None else shown.getpeercert(True)
        finally:
            connection.close()

    def forget(self, peer: Peer) -> None:
        """End the connections to a peer that will not be asked again."""
        pool = self._pools.pop(peer, None)
        if pool is not None:
            pool.close()

    def close(self) -> None:
        """End every connection."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


def connect_problem(error: OSError, address: str) -> str:
    """Return why there is no connection, in Go's words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {_distrust(error)}"
    if isinstance(error, ssl.SSLError):
        return f"tls: {error.reason or error}"
    if isinstance(error, ProxyError):
        return str(error)
    why = _NAMES.get(error.errno or 0) or (error.strerror or str(error)).lower()
    return f"dial tcp {address}: connect: {why}"


def _distrust(error: ssl.SSLCertVerificationError) -> str:
    text = error.verify_message or str(error)
    if "self-signed" in text or "self signed" in text or "unable to get" in text:
        return "certificate signed by unknown authority"
    if "expired" in text:
        return "certificate has expired or is not yet valid"
    return text
