"""Connections from here and from inside another network namespace."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from pybernetes.lib.http.dialer import RangeDialer, direct
from pybernetes.lib.network.network_namespace import socket_in
from pybernetes.lib.tls import tls
from tests.support import require_program, require_root, run

NAME = f"dialing-{os.getpid()}"
ADDRESS = "10.77.77.1"


class Greeted(asyncio.Protocol):
    def __init__(self) -> None:
        self.text: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self.text.set_result(data)


@pytest.fixture
def namespace() -> Iterator[Path]:
    require_root()
    require_program("ip")
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    try:
        subprocess.run(["ip", "-netns", NAME, "link", "set", "lo", "up"], check=True)
        subprocess.run(["ip", "-netns", NAME, "address", "add", f"{ADDRESS}/32", "dev", "lo"], check=True)
        yield Path("/run/netns") / NAME
    finally:
        subprocess.run(["ip", "netns", "delete", NAME], check=True)


def _inside(namespace: Path) -> Callable[[str, int], Awaitable[socket.socket | None]]:
    """Return who makes sockets of a namespace that are on their way."""

    async def connecting(host: str, port: int) -> socket.socket:
        made = socket_in(namespace, socket.AF_INET)
        with contextlib.suppress(BlockingIOError):
            made.connect((host, port))
        return made

    return connecting


async def _nothing(host: str, port: int) -> None:
    return None


async def _greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"hello")
    await writer.drain()
    writer.close()


def test_addresses_of_a_namespace_are_reached_inside(namespace: Path) -> None:
    async def work() -> None:
        here = os.stat("/proc/thread-self/ns/net").st_ino
        listener = socket_in(namespace, 2)
        listener.bind((ADDRESS, 0))
        listener.listen()
        assert os.stat("/proc/thread-self/ns/net").st_ino == here
        server = await asyncio.start_server(_greet, sock=listener)
        port = listener.getsockname()[1]
        dialer = RangeDialer(("10.77.0.0/16",), _inside(namespace))
        connection = await dialer(Greeted, ADDRESS, port)
        assert await connection.text == b"hello"
        with pytest.raises(OSError):
            await dialer(Greeted, ADDRESS, 1)
        server.close()
        outside = await asyncio.start_server(_greet, "127.0.0.1", 0)
        port = outside.sockets[0].getsockname()[1]
        for dial in (dialer, direct, RangeDialer(("127.0.0.0/8",), _nothing)):
            connection = await dial(Greeted, "127.0.0.1", port)
            assert await connection.text == b"hello"
        outside.close()

    run(work())


def test_encrypted_connections_need_no_name(namespace: Path, tmp_path: Path) -> None:
    async def work() -> None:
        certificate, key, _ = tls.ensure_serving(tmp_path, [ADDRESS])
        listener = socket_in(namespace, 2)
        listener.bind((ADDRESS, 0))
        listener.listen()
        server = await asyncio.start_server(_greet, sock=listener, ssl=tls.server_context(certificate, key))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        dialer = RangeDialer(("10.77.0.0/16",), _inside(namespace))
        connection = await dialer(Greeted, ADDRESS, listener.getsockname()[1], context=context)
        assert await connection.text == b"hello"
        server.close()

    run(work())
