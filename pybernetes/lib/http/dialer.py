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
from typing import TypeVar

_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)
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


class NamespaceDialer(Dialer):
    """Reach some ranges of addresses from inside a network namespace, and everything else from here.

    ``namespace`` gives the file of the namespace at the moment, or None if there is none.
    """

    def __init__(self, ranges: Sequence[str], namespace: Callable[[], Path | None]) -> None:
        self._ranges = [ipaddress.ip_network(text) for text in ranges]
        self._namespace = namespace

    def _covers(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._ranges)

    async def connected(self, host: str, port: int) -> socket.socket | None:
        """Return a socket of the namespace, for the ranges that are known there."""
        namespace = self._namespace() if self._covers(host) else None
        if namespace is None:
            return None
        made = socket_in(namespace, socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            await asyncio.get_running_loop().sock_connect(made, (host, port))
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


def socket_in(namespace: Path, family: int) -> socket.socket:
    """Return a socket of another network namespace, for good: this thread is there only while it is made."""
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
