"""Connections through a proxy that is asked with CONNECT, over TCP, TLS or a Unix socket."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pybernetes.lib.http.dialer import Dialer, P, ProxyError
from pybernetes.lib.network.keep_alive import keep_alive

_SECONDS = 30.0  # that the proxy has for the whole way
_MOST_HEAD = 64 << 10
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: ([^\r\n]*))?\r?\n")
# What a client chose becomes a line of a request: nothing but names and addresses.
_HOST = re.compile(r"[A-Za-z0-9._:%-]{1,255}")


@dataclass(frozen=True, slots=True)
class ProxyServer:
    """Where a proxy is: a path of a socket, or a host and a port, with TLS if there is a context."""

    host: str = ""
    port: int = 0
    path: str = ""
    context: ssl.SSLContext | None = None
    server_name: str = ""

    @property
    def address(self) -> str:
        """Where it is, for people."""
        return self.path or (f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}")


class ConnectDialer(Dialer):
    """Make connections through a proxy; it looks up names.

    ``started`` is called with each dial, ``ended`` with its seconds and the stage at which it failed: connect, proxy, or "".
    """

    def __init__(
        self,
        proxy: ProxyServer,
        started: Callable[[], None] = lambda: None,
        ended: Callable[[float, str], None] = lambda seconds, stage: None,
    ) -> None:
        super().__init__()
        self._proxy, self._started, self._ended = proxy, started, ended

    async def __call__(
        self,
        factory: Callable[[], P],
        host: str,
        port: int,
        *,
        context: ssl.SSLContext | None = None,
        server_name: str | None = None,
    ) -> P:
        """Return the protocol of a connection that stands; OSError if there is none."""
        if not _HOST.fullmatch(host):
            raise OSError(f"lookup {host!r}: no such host")
        begin, stage = time.monotonic(), "connect"
        self._started()
        try:
            async with asyncio.timeout(_SECONDS):
                tunnel = await self._reach(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
                stage = "proxy"
                transport, early = await tunnel.opened()
                if early and context is not None:  # of TLS, the client is the first to speak
                    transport.abort()
                    raise ProxyError(
                        f'unexpected {len(early)} bytes of buffered data from CONNECT proxy "{self._proxy.address}"'
                    )
        except TimeoutError:
            self._ended(time.monotonic() - begin, stage)
            raise ProxyError(f"the proxy {self._proxy.address} did not answer in time") from None
        except OSError:
            self._ended(time.monotonic() - begin, stage)
            raise
        self._ended(time.monotonic() - begin, "")
        try:
            return await _handed_over(transport, factory(), early, context, server_name or host)
        except BaseException:
            transport.abort()
            raise

    async def _reach(self, target: str) -> _Tunnel:
        """Return a connection to the proxy, which is asked for the target."""
        proxy, loop = self._proxy, asyncio.get_running_loop()
        if proxy.path:
            _, tunnel = await loop.create_unix_connection(lambda: _Tunnel(proxy.address, target), proxy.path)
            return tunnel
        name = (proxy.server_name or proxy.host) if proxy.context is not None else None
        transport, tunnel = await loop.create_connection(
            lambda: _Tunnel(proxy.address, target), proxy.host, proxy.port, ssl=proxy.context, server_hostname=name
        )  # fmt: skip
        keep_alive(transport.get_extra_info("socket"))
        return tunnel


class _Tunnel(asyncio.Protocol):
    """Asks a proxy for a connection, and waits for its answer."""

    def __init__(self, proxy: str, target: str) -> None:
        self._proxy, self._target = proxy, target
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._head = b""
        self._transport: Any = None

    async def opened(self) -> tuple[Any, bytes]:
        """Return the transport, once the proxy has made the connection, and what came with its answer; OSError if it does not."""
        try:
            return self._transport, await self._answer
        except BaseException:
            self._transport.abort()
            raise

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._transport.write(f"CONNECT {self._target} HTTP/1.1\r\nHost: {self._target}\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        if self._answer.done():
            return
        self._head += data
        head, end, rest = self._head.partition(b"\r\n\r\n")
        if not end:
            if len(self._head) > _MOST_HEAD:
                self._fail("the answer's head is too large")
            return
        status = _STATUS.match(head + b"\r\n")
        if status is None:
            self._fail("malformed HTTP response")
        elif status[1] != b"200":
            line = b" ".join(part for part in status.groups() if part).decode("latin-1")[:200]
            text = (
                f"proxy error from {self._proxy} while dialing {self._target}, code {int(status[1])}: {line}"
            )
            self._answer.set_exception(ProxyError(text))
        else:
            self._transport.pause_reading()  # until the connection is handed over
            self._answer.set_result(rest)  # of a peer that speaks before we do, such as a gRPC server

    def connection_lost(self, error: Exception | None) -> None:
        if not self._answer.done():
            self._fail(str(error or "unexpected EOF"))

    def _fail(self, why: str) -> None:
        self._answer.set_exception(
            ProxyError(
                f"reading HTTP response from CONNECT to {self._target} via proxy {self._proxy} failed: {why}"
            )
        )


class _Held(asyncio.Protocol):
    """Keeps what comes before the protocol that it is for has heard of its connection."""

    def __init__(self) -> None:
        self.data = b""
        self.lost: list[Exception | None] = []

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, error: Exception | None) -> None:
        self.lost.append(error)


async def _handed_over(
    transport: Any, protocol: P, early: bytes, context: ssl.SSLContext | None, name: str
) -> P:
    """Return a protocol on a transport that another has used, with TLS if there is a context; ``early`` has come already."""
    held = _Held()
    held.data = early
    if context is not None:
        loop = asyncio.get_running_loop()
        transport.resume_reading()
        transport = await loop.start_tls(transport, held, context, server_hostname=name)
        if transport is None:
            raise ConnectionError("the connection is closed")
    transport.set_protocol(protocol)
    protocol.connection_made(transport)
    if held.data:
        protocol.data_received(held.data)  # type: ignore[attr-defined]
    for error in held.lost:
        protocol.connection_lost(error)
    if context is None:
        transport.resume_reading()
    return protocol
