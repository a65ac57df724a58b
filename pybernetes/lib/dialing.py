"""How connections are made: from here, or as if from another network namespace of this machine."""

from __future__ import annotations

import asyncio
import ctypes
import ipaddress
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)
P = TypeVar("P", bound=asyncio.BaseProtocol)


class Dialer(Protocol):
    """Makes connections."""

    async def __call__(
        self,
        factory: Callable[[], P],
        host: str,
        port: int,
        *,
        context: ssl.SSLContext | None = None,
        server_name: str | None = None,
    ) -> P:
        """The protocol of a connection that stands; OSError if there is none."""


async def direct(
    factory: Callable[[], P],
    host: str,
    port: int,
    *,
    context: ssl.SSLContext | None = None,
    server_name: str | None = None,
) -> P:
    """A connection from where this process is."""
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(factory, host, port, ssl=context, server_hostname=server_name)
    return protocol


class Inside:
    """Reaches some ranges of addresses from inside a network namespace, and everything else from here.

    ``namespace`` gives the file of the namespace at the moment, or None if there is none.
    """

    def __init__(self, ranges: Sequence[str], namespace: Callable[[], Path | None]) -> None:
        self._ranges = [ipaddress.ip_network(each) for each in ranges]
        self._namespace = namespace

    def _covers(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in each for each in self._ranges)

    async def __call__(
        self,
        factory: Callable[[], P],
        host: str,
        port: int,
        *,
        context: ssl.SSLContext | None = None,
        server_name: str | None = None,
    ) -> P:
        """A connection, from the side where the address is known."""
        namespace = self._namespace() if self._covers(host) else None
        if namespace is None:
            return await direct(factory, host, port, context=context, server_name=server_name)
        loop = asyncio.get_running_loop()
        connected = socket_in(namespace, socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            await loop.sock_connect(connected, (host, port))
            name = (server_name or host) if context is not None else None
            _, protocol = await loop.create_connection(
                factory, sock=connected, ssl=context, server_hostname=name
            )
        except BaseException:
            connected.close()
            raise
        return protocol


def socket_in(namespace: Path, family: int) -> socket.socket:
    """A socket of another network namespace, for ever: this thread is there only while it is made."""
    with open("/proc/thread-self/ns/net") as home, namespace.open() as there:
        _enter(there.fileno())
        try:
            made = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        finally:
            _enter(home.fileno())
    return made


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, _CLONE_NEWNET):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
