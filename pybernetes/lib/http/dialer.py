"""How connections are made: from here, or by sockets that somebody else makes."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

P = TypeVar("P", bound=asyncio.BaseProtocol)


class Dialer:
    """Make connections from where this process is."""

    async def connected(self, host: str, port: int) -> socket.socket | None:
        """Return a connected socket for an address that has to be reached in another way."""
        return None

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
        made, loop = await self.connected(host, port), asyncio.get_running_loop()
        if made is None:
            _, protocol = await loop.create_connection(
                factory, host, port, ssl=context, server_hostname=server_name
            )
            return protocol
        try:
            name = (server_name or host) if context is not None else None
            _, protocol = await loop.create_connection(factory, sock=made, ssl=context, server_hostname=name)
        except BaseException:
            made.close()
            raise
        return protocol


direct = Dialer()


class RangeDialer(Dialer):
    """Reach some ranges of addresses by sockets that somebody else makes, and everything else from here.

    ``connecting`` gives a socket that is on its way to an address, or None if there is no other way than from here.
    """

    def __init__(
        self, ranges: Sequence[str], connecting: Callable[[str, int], Awaitable[socket.socket | None]]
    ) -> None:
        self._ranges = [ipaddress.ip_network(text) for text in ranges]
        self._connecting = connecting

    def _covers(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._ranges)

    async def connected(self, host: str, port: int) -> socket.socket | None:
        """Return a connected socket, for the ranges that are known elsewhere."""
        made = await self._connecting(host, port) if self._covers(host) else None
        if made is None:
            return None
        try:
            # A connect to where the socket already goes waits for its end, and says how it ended.
            await asyncio.get_running_loop().sock_connect(made, (host, port))
        except OSError as error:
            if error.errno != errno.EISCONN:
                made.close()
                raise
        except BaseException:
            made.close()
            raise
        return made


def keep_alive(sock: socket.socket | None) -> None:
    """Have the kernel notice a server that is gone without a word, which a long answer would wait for forever."""
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", 30),
        ("TCP_KEEPINTVL", 10),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", 60000),
    ):
        if hasattr(socket, option):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
