"""An HTTP server: it listens, and holds what all of its connections share."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from http import HTTPStatus

from pybernetes.lib.http.limits import Limits, listen
from pybernetes.lib.http.messages import TEXT, Request, Response
from pybernetes.lib.http.send_turns import SendTurns
from pybernetes.lib.http.server_connection import Application, Connection
from pybernetes.lib.http.stream import Flusher
from pybernetes.lib.http.unanswered import Unanswered
from pybernetes.lib.http.unread import Unread
from pybernetes.lib.network.acceptor import Acceptor
from pybernetes.lib.tls.paced_handshakes import secured

_HANDSHAKE_SECONDS = 10.0


def plain_refusal(status: int, message: str) -> Response:
    """Return the answer to a request that cannot be read, as plain text."""
    return Response(f"{status} {HTTPStatus(status).phrase}: {message}\n".encode(), status, TEXT)


class Server:
    """Listen, and have every request answered by an application.

    ``refusal`` makes the answers to what is no proper request, ``headers`` are lines that every answer has.
    """

    def __init__(
        self,
        application: Application,
        refusal: Callable[[int, str], Response] = plain_refusal,
        limits: Limits | None = None,
        request_class: type[Request] = Request,
        *,
        connection_class: type[Connection] = Connection,
        headers: bytes = b"",
    ) -> None:
        self.application = application
        self.request_class = request_class
        self.refusal = refusal
        self.limits = limits or Limits()
        self.connections: set[Connection] = set()
        self.draining = False
        self.flusher = Flusher()
        self.sending = SendTurns()
        self.unread = Unread(self.limits.unread, self.limits.unread_of_one)
        self.unanswered = Unanswered(self.limits.unanswered)
        self.loop: asyncio.AbstractEventLoop = None  # type: ignore[assignment]
        self._connection_class = connection_class
        self._acceptors: list[Acceptor] = []
        self._headers = headers
        self._second = 0
        self._common = b""

    def common_headers(self, request: Request) -> bytes:
        """Return the header lines of every response; the date is formatted once a second."""
        now = int(time.time())
        if now != self._second:
            self._second = now
            date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(now))
            self._common = self._headers + f"Date: {date}\r\n".encode()
        return self._common + request.response_headers()

    async def start(self, host: str, port: int, context: ssl.SSLContext | None = None) -> int:
        """Listen; return the port, which matters when it was asked for port 0."""
        sock = listen(host, port, self.limits)
        await self.listen_on(sock, context)
        return sock.getsockname()[1]

    async def listen_on(self, sock: socket.socket, context: ssl.SSLContext | None = None) -> None:
        """Listen on a socket that is bound already."""
        self.loop = asyncio.get_running_loop()
        protocol: Callable[[], asyncio.BaseProtocol] = lambda: self._connection_class(self)  # noqa: E731
        if context is not None:
            protocol = secured(context, _HANDSHAKE_SECONDS, protocol)
        self._acceptors.append(Acceptor(sock, protocol))

    async def adopt(self, sock: socket.socket) -> None:
        """Serve a connection that stands already."""
        self.loop = asyncio.get_running_loop()
        await self.loop.connect_accepted_socket(lambda: self._connection_class(self), sock)

    def make_room(self) -> bool:
        """End a connection that is idle, for a new one; return whether there was any."""
        idle = next((connection for connection in self.connections if connection.is_idle), None)
        if idle is None:
            return False
        self.connections.discard(idle)
        idle.abort()
        return True

    async def _close_listeners(self) -> None:
        self.draining = True
        for acceptor in self._acceptors:
            await acceptor.close()
        self._acceptors.clear()

    async def drain(self, seconds: float) -> None:
        """Take no new connections, end streams, wait for requests under way, then close."""
        await self._close_listeners()
        for connection in list(self.connections):
            connection.drain()
        deadline = time.monotonic() + seconds
        while any(connection.is_busy for connection in self.connections) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        for connection in list(self.connections):
            connection.abort()

    async def stop(self) -> None:
        """Take no new connections and drop those that there are."""
        await self._close_listeners()
        for connection in list(self.connections):
            connection.abort()
