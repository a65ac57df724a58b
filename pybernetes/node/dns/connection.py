"""One connection of kube-dns over TCP: questions, each with its length in front; answers may come in another order."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.node.dns.server import Server

_IDLE_SECONDS = 10.0
_CONNECTIONS, _OF_ONE_CLIENT = 2000, 200
# Questions of one connection that wait for other name servers.
_ASKED_ELSEWHERE = 64
# Bytes of answers that clients have not taken, of all connections together.
_MOST_UNSENT = 32 << 20


class Connection(asyncio.Protocol):
    """It reads no further while its client does not take the answers, or while too many questions wait."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = bytearray()
        self._transport: asyncio.Transport = None  # type: ignore[assignment]
        self._timer: asyncio.TimerHandle | None = None
        self._clogged = self._paused = False
        self._waiting = self.unsent = 0
        self.client: tuple[str, int] = ("", 0)
        self.peer = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self.client = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.peer = str(self.client[0])
        others = self._server.connections
        if len(others) >= _CONNECTIONS or sum(other.peer == self.peer for other in others) >= _OF_ONE_CLIENT:
            self._transport.abort()
            return
        others.add(self)
        self._wait()

    def _wait(self) -> None:
        """Give the client some time for its next question, and for taking what it was answered."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._answer()

    def _answer(self) -> None:
        buffer = self._buffer
        while (
            not self._is_full
            and len(buffer) >= 2
            and len(buffer) >= 2 + (length := int.from_bytes(buffer[:2]))
        ):
            message = bytes(buffer[2 : 2 + length])
            del buffer[: 2 + length]
            self._wait()
            metrics = self._server.metrics
            metrics.protocols[("tcp", "1")] = metrics.protocols.get(("tcp", "1"), 0) + 1
            response = self._server.resolver.respond(message, False, self.client)
            if isinstance(response, bytes):
                self._write(response)
            elif response is not None:
                self._waiting += 1
                self._server.elsewhere.add(response, length, self.peer, self._answered)
            else:
                self.close()
                return
        self._regulate()

    @property
    def _is_full(self) -> bool:
        return self._clogged or self._waiting >= _ASKED_ELSEWHERE

    def _regulate(self) -> None:
        if self._is_full != self._paused and not self._transport.is_closing():
            self._paused = self._is_full
            (self._transport.pause_reading if self._paused else self._transport.resume_reading)()

    def _answered(self, message: bytes) -> None:
        """Send an answer that others were asked for; without one there is none for this client."""
        self._waiting -= 1
        if message:
            self._write(message)
        else:
            self.close()
        if self._paused:
            self._answer()

    def _write(self, response: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(len(response).to_bytes(2) + response)
            self._count_unsent()
            if self._server.unsent > _MOST_UNSENT:
                _make_room(self._server)

    def _count_unsent(self) -> None:
        before, self.unsent = self.unsent, self._transport.get_write_buffer_size()
        self._server.unsent += self.unsent - before

    def pause_writing(self) -> None:
        self._clogged = True
        self._regulate()

    def resume_writing(self) -> None:
        self._clogged = False
        self._count_unsent()
        self._answer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        self._server.unsent -= self.unsent
        self.unsent = 0
        if self._timer is not None:
            self._timer.cancel()

    def close(self) -> None:
        """End the connection."""
        self._transport.close()

    def abort(self) -> None:
        """End the connection, with whatever its client has not taken."""
        self._transport.abort()


def _make_room(server: Server) -> None:
    """End the fullest connection of the client that has left most answers, if there are really that many."""
    of_client: Counter[str] = Counter()
    for connection in server.connections:
        connection._count_unsent()
        of_client[connection.peer] += connection.unsent
    if server.unsent > _MOST_UNSENT:
        ((worst, _),) = of_client.most_common(1)
        its = (connection for connection in server.connections if connection.peer == worst)
        max(its, key=lambda connection: connection.unsent).abort()
