"""The sockets of kube-dns: UDP, and the listeners of TCP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine

from pybernetes.lib.network import listener as listening
from pybernetes.node.dns.connection import Connection
from pybernetes.node.dns.datagrams import Datagrams
from pybernetes.node.dns.elsewhere import Elsewhere
from pybernetes.node.dns.resolver import Resolver


class Server:
    """Answers on any number of addresses."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.metrics = resolver, resolver.metrics
        self._sockets: list[Datagrams] = []
        self._listeners: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections: set[Connection] = set()
        self.port = 0
        self.unsent = 0  # bytes of answers over TCP that their clients have not taken
        self.elsewhere = Elsewhere(self.metrics, self.soon)

    async def start(self, host: str, port: int) -> int:
        """Listen on an address, on the same port for UDP and TCP, and return the port."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        loop = asyncio.get_running_loop()
        for _ in range(10):
            datagrams = socket.socket(family, socket.SOCK_DGRAM)
            datagrams.setblocking(False)
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
            self._sockets.append(Datagrams(datagrams, self.resolver, self.elsewhere))
            self._sockets[-1].start()
            self._listeners.append(listener)
            self.port = bound_port
            return bound_port
        raise OSError(f"no port of {host} is free for both UDP and TCP")

    def soon(self, work: Coroutine[None, None, None]) -> None:
        """Run something beside the rest, until the server stops."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Close every socket and connection."""
        for datagrams in self._sockets:
            datagrams.close()
        self.elsewhere.close()
        for listener in self._listeners:
            await listening.close(listener)
        for connection in list(self.connections):
            connection.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
