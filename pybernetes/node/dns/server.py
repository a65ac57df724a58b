"""The sockets of kube-dns: UDP, read until it is empty, and the listeners of TCP."""

from __future__ import annotations

import asyncio
import inspect
import logging
import socket
from collections.abc import Awaitable, Coroutine
from time import perf_counter

from pybernetes.lib.network import listener as listening
from pybernetes.node.dns.connection import Connection
from pybernetes.node.dns.resolver import Resolver

log = logging.getLogger(__name__)
_AT_A_TIME = 64  # questions until others get a turn
_BUFFER = 4 << 20
_MOST_WAITING = 10_000  # questions that are not answered yet: more are not heard


class Server:
    """Answers on any number of addresses."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.metrics = resolver, resolver.metrics
        self._sockets: list[socket.socket] = []
        self._listeners: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections: set[Connection] = set()
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
                listener = await loop.create_server(lambda: Connection(self), host, bound_port)
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
        metrics, count, answered, before = self.metrics, 0, 0, perf_counter()
        try:
            while count < _AT_A_TIME:
                data, sender = receive(4096)
                count += 1
                try:
                    response = respond(data, True, sender)
                except Exception:
                    metrics.panics += 1
                    log.exception("a question could not be answered: %r", data)
                    continue
                if isinstance(response, bytes):
                    send(response, sender)
                    answered += 1
                elif response is not None:
                    if len(self._tasks) < _MOST_WAITING:
                        self.soon(self._send_later(response, datagrams, sender))
                    else:
                        _forget(response)
        except BlockingIOError:
            pass  # nothing left to read, or no room to send: UDP may lose packets
        except OSError as error:  # somebody who asked is not there any more
            log.debug("a datagram failed: %s", error)
        if answered:  # each of those took the same: a look at the clock for each would cost more than they do
            metrics.durations.observe((perf_counter() - before) / count, answered)
        metrics.protocols[("udp", family)] = metrics.protocols.get(("udp", family), 0) + count

    async def _send_later(
        self, response: Awaitable[bytes], datagrams: socket.socket, sender: tuple[str, int]
    ) -> None:
        before = perf_counter()
        try:
            message = await response
            if message:  # some plugins want nobody answered
                datagrams.sendto(message, sender)
        except OSError as error:
            log.debug("an answer could not be sent: %s", error)
        self.metrics.took(perf_counter() - before)

    def soon(self, work: Coroutine[None, None, None]) -> None:
        """Run something beside the rest, until the server stops."""
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


def _forget(response: Awaitable[bytes]) -> None:
    if inspect.iscoroutine(response):
        response.close()
