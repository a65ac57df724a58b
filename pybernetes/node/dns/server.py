"""The sockets of kube-dns: UDP, read until it is empty, and TCP."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Coroutine
from time import perf_counter

from pybernetes.lib import listener as listening
from pybernetes.node.dns.resolver import Resolver

log = logging.getLogger(__name__)
_AT_A_TIME = 64  # questions until others get a turn
_BUFFER = 4 << 20
_IDLE_SECONDS = 10.0
_CONNECTIONS = 2000


class Server:
    """Answers on any number of addresses."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.metrics = resolver, resolver.metrics
        self._sockets: list[socket.socket] = []
        self._listeners: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections: set[_Connection] = set()
        self.port = 0

    async def start(self, host: str, port: int) -> int:
        """Listen on an address, on the same port for UDP and TCP, and return the port."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        loop = asyncio.get_running_loop()
        for _ in range(10):
            datagrams = socket.socket(family, socket.SOCK_DGRAM)
            datagrams.setblocking(False)
            datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            if family == socket.AF_INET6:
                datagrams.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                datagrams.bind((host, port))
                bound_port = datagrams.getsockname()[1]
                listener = await loop.create_server(lambda: _Connection(self), host, bound_port)
            except OSError:
                datagrams.close()
                if port:
                    raise
                continue  # the free port of one protocol was taken in the other
            self._sockets.append(datagrams)
            self._listeners.append(listener)
            loop.add_reader(
                datagrams.fileno(), self._read, datagrams, "1" if family == socket.AF_INET else "2"
            )
            self.port = bound_port
            return bound_port
        raise OSError(f"no port of {host} is free for both UDP and TCP")

    def _read(self, datagrams: socket.socket, family: str) -> None:
        """Answer what has arrived, up to a number that leaves others their turn."""
        respond, receive, send = self.resolver.respond, datagrams.recvfrom, datagrams.sendto
        metrics, count, before = self.metrics, 0, perf_counter()
        try:
            while count < _AT_A_TIME:
                data, sender = receive(4096)
                count += 1
                try:
                    response = respond(data, True)
                except Exception:
                    metrics.panics += 1
                    log.exception("a question could not be answered: %r", data)
                    continue
                if isinstance(response, bytes):
                    send(response, sender)
                    now = perf_counter()
                    metrics.took(now - before)
                    before = now
                elif response is not None:
                    self._soon(self._send_later(response, datagrams, sender))
        except BlockingIOError:
            pass  # nothing left to read, or no room to send: UDP may lose packets
        except OSError as error:  # somebody who asked is not there any more
            log.debug("a datagram failed: %s", error)
        metrics.protocols[("udp", family)] = metrics.protocols.get(("udp", family), 0) + count

    async def _send_later(
        self, response: Awaitable[bytes], datagrams: socket.socket, sender: tuple[str, int]
    ) -> None:
        before = perf_counter()
        try:
            datagrams.sendto(await response, sender)
        except OSError as error:
            log.debug("an answer could not be sent: %s", error)
        self.metrics.took(perf_counter() - before)

    def _soon(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Close every socket and connection."""
        loop = asyncio.get_running_loop()
        for datagrams in self._sockets:
            loop.remove_reader(datagrams.fileno())
            datagrams.close()
        for listener in self._listeners:
            await listening.close(listener)
        for connection in list(self.connections):
            connection.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Connection(asyncio.Protocol):
    """Questions over TCP, each with its length in front; answers may come in another order."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        if len(self._server.connections) >= _CONNECTIONS:
            transport.abort()  # type: ignore[attr-defined]
            return
        self._server.connections.add(self)
        self._wait()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self.close)

    def data_received(self, data: bytes) -> None:
        self._wait()
        buffer = self._buffer
        buffer += data
        while len(buffer) >= 2 and len(buffer) >= 2 + (length := int.from_bytes(buffer[:2])):
            message = bytes(buffer[2 : 2 + length])
            del buffer[: 2 + length]
            metrics = self._server.metrics
            metrics.protocols[("tcp", "1")] = metrics.protocols.get(("tcp", "1"), 0) + 1
            response = self._server.resolver.respond(message, False)
            if isinstance(response, bytes):
                self._write(response)
            elif response is not None:
                self._server._soon(self._write_later(response))
            else:
                self.close()

    async def _write_later(self, response: Awaitable[bytes]) -> None:
        self._write(await response)

    def _write(self, response: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(len(response).to_bytes(2) + response)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.close()
