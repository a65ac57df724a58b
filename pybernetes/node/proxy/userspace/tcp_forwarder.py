"""Forwards TCP connections to targets, as the kernel does it in other modes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct

from pybernetes.lib.network import listener
from pybernetes.node.proxy.userspace.round_robin import RoundRobin

log = logging.getLogger(__name__)
# How long to wait for one target after the other; the last value counts for all further ones.
_CONNECT_SECONDS = (1.0, 2.0, 4.0)
_EARLY_BYTES = 65536  # kept while a client waits for a target
_RESET = struct.pack("ii", 1, 0)


class _Half(asyncio.Protocol):
    """One side of a connection; what arrives here is sent to the other side, once there is one."""

    def __init__(self) -> None:
        self.other: _Half | None = None
        self.transport: asyncio.Transport | None = None
        self._early = bytearray()
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def join(self, other: _Half) -> None:
        """Send everything to the other side from now on, beginning with what has arrived already."""
        self.other = other
        early, self._early = bytes(self._early), bytearray()
        if early:
            self.data_received(early)
        if len(early) > _EARLY_BYTES and self.transport is not None:
            self.transport.resume_reading()
        if self._ended:
            self.eof_received()

    def data_received(self, data: bytes) -> None:
        if self.other is None:
            full = len(self._early) > _EARLY_BYTES
            self._early += data
            if not full and len(self._early) > _EARLY_BYTES and self.transport is not None:
                self.transport.pause_reading()
        elif self.other.transport is not None:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        self._ended = True
        if self.other is not None and self.other.transport is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self.other.transport.write_eof()
        return True  # the other direction goes on

    def connection_lost(self, error: Exception | None) -> None:
        other, self.other, self.transport = self.other, None, None
        if other is not None and other.transport is not None:
            if error is not None:
                other.transport.abort()
            else:
                other.transport.close()

    def pause_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.resume_reading()


class TcpForwarder:
    """Accepts connections and forwards them; open ones outlive a change of targets and the end of listening."""

    def __init__(self, balancer: RoundRobin, family: int) -> None:
        self._balancer, self._family = balancer, family
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def open(self) -> None:
        """Listen on a port that the kernel chooses."""
        host = "0.0.0.0" if self._family == 4 else "::"
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Client(self), host, 0, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    def accepted(self, client: _Client) -> None:
        """Find a target for a new client."""
        task = asyncio.get_running_loop().create_task(self._join(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join(self, client: _Client) -> None:
        assert client.transport is not None
        peer = client.transport.get_extra_info("peername")[0]
        loop = asyncio.get_running_loop()
        for attempt, target in enumerate(self._balancer.choices(peer)):
            seconds = _CONNECT_SECONDS[min(attempt, len(_CONNECT_SECONDS) - 1)]
            other = _Half()
            try:
                async with asyncio.timeout(seconds):
                    await loop.create_connection(lambda other=other: other, target.ip, target.port)  # type: ignore[misc]
            except (OSError, TimeoutError) as error:
                log.debug("%s cannot be reached: %s", target, error)
                continue
            self._balancer.chosen(peer, target)
            if client.transport is None:
                if other.transport is not None:
                    other.transport.abort()
                return
            client.join(other)
            other.join(client)
            return
        if client.transport is not None:
            connection = client.transport.get_extra_info("socket")
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)  # refused, not ended
            client.transport.abort()

    def retarget(self) -> None:
        """Do nothing: connections stay with their targets."""

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            await listener.close(self._server)


class _Client(_Half):
    def __init__(self, forwarder: TcpForwarder) -> None:
        super().__init__()
        self._forwarder = forwarder

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._forwarder.accepted(self)
