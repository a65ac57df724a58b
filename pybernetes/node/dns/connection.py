"""One connection of kube-dns over TCP: questions, each with its length in front; answers may come in another order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.node.dns.server import Server

_IDLE_SECONDS = 10.0
_CONNECTIONS, _OF_ONE_CLIENT = 2000, 200
# Questions of one connection that wait for other name servers.
_ASKED_ELSEWHERE = 64


class Connection(asyncio.Protocol):
    """It reads no further while its client does not take the answers, or while too many questions wait."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = bytearray()
        self._transport: asyncio.Transport = None  # type: ignore[assignment]
        self._timer: asyncio.TimerHandle | None = None
        self._clogged = self._paused = False
        self._waiting = 0
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
                self._server.soon(self._write_later(response))
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

    async def _write_later(self, response: Awaitable[bytes]) -> None:
        try:
            message = await response
            if message:
                self._write(message)
            else:
                self.close()
        finally:
            self._waiting -= 1
            if self._paused:
                self._answer()

    def _write(self, response: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(len(response).to_bytes(2) + response)

    def pause_writing(self) -> None:
        self._clogged = True
        self._regulate()

    def resume_writing(self) -> None:
        self._clogged = False
        self._answer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()

    def close(self) -> None:
        """End the connection."""
        self._transport.close()
