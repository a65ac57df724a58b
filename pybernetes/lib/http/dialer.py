"""How connections are made: from here, or by sockets that somebody else makes."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pybernetes.lib.network.keep_alive import keep_alive
from pybernetes.lib.network.names import Names, is_address

P = TypeVar("P", bound=asyncio.BaseProtocol)


class ProxyError(ConnectionError):
    """A proxy on the way made no connection; the text is for people."""


class Dialer:
    """Make connections from where this process is.

    With ``names`` hosts are looked up there, which is for those that others chose; else by the event loop.
    """

    def __init__(self, names: Names | None = None) -> None:
        self._names = names

    async def connected(self, host: str, port: int) -> socket.socket | None:
        """Return a connected socket for an address that has to be reached in another way."""
        return None

    async def datagrams(self, host: str, port: int) -> socket.socket | None:
        """Return a socket of UDP for such an address."""
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
        if self._names is None or is_address(host):
            return await self._dial(factory, host, port, context, server_name)
        name = (server_name or host) if context is not None else None
        failure: OSError = OSError(f"lookup {host}: no such host")
        for address in await self._names.lookup(host):
            try:
                return await self._dial(factory, address, port, context, name)
            except OSError as error:
                failure = error
        raise failure

    async def _dial(
        self,
        factory: Callable[[], P],
        host: str,
        port: int,
        context: ssl.SSLContext | None,
        server_name: str | None,
    ) -> P:
        made, loop = await self.connected(host, port), asyncio.get_running_loop()
        if made is None:
            transport, protocol = await loop.create_connection(
                factory, host, port, ssl=context, server_hostname=server_name
            )
        else:
            try:
                name = (server_name or host) if context is not None else None
                transport, protocol = await loop.create_connection(
                    factory, sock=made, ssl=context, server_hostname=name
                )
            except BaseException:
                made.close()
                raise
        keep_alive(transport.get_extra_info("socket"))
        return protocol


direct = Dialer()


class RangeDialer(Dialer):
    """Reach some ranges of addresses by sockets that somebody else makes, and everything else from here.

    ``connecting`` gives a socket that is on its way to an address, or None if there is no other way than from here; with
    ``datagram=True`` one of UDP.
    """

    def __init__(
        self,
        ranges: Sequence[str],
        connecting: Callable[..., Awaitable[socket.socket | None]],
        names: Names | None = None,
    ) -> None:
        super().__init__(names)
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

    async def datagrams(self, host: str, port: int) -> socket.socket | None:
        """Return a socket of UDP, for the same ranges."""
        return await self._connecting(host, port, datagram=True) if self._covers(host) else None
