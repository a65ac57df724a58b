"""Peers that vanish without a word: their connections end all the same."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.lib.http.dialer import direct
from pybernetes.lib.http.limits import Limits, listen
from pybernetes.lib.network import keep_alive
from pybernetes.lib.network.network_namespace import socket_in
from tests.support import require_program, require_root

NUMBER = os.getpid() % 250
NAME, LINK = f"half-open-{os.getpid()}", f"ho{os.getpid()}"
HERE, THERE = f"10.78.{NUMBER}.1", f"10.78.{NUMBER}.2"
SECONDS = 60.0  # far more than a peer is waited for here, for a machine that is busy


class Connection(asyncio.Protocol):
    """Notes its beginning and its end."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.made: asyncio.Future[asyncio.Transport] = loop.create_future()
        self.lost: asyncio.Future[Exception | None] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.made.set_result(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(exc)


@pytest.fixture
def peer() -> Iterator[Path]:
    """A network namespace behind one link, which can be cut."""
    require_root()
    require_program("ip")
    commands = [
        f"netns add {NAME}", f"link add {LINK} type veth peer name eth0 netns {NAME}",
        f"address add {HERE}/24 dev {LINK}", f"link set {LINK} up",
        f"-netns {NAME} address add {THERE}/24 dev eth0", f"-netns {NAME} link set eth0 up",
    ]  # fmt: skip
    try:
        for command in commands:
            subprocess.run(["ip", *command.split()], check=True)
        yield Path("/run/netns") / NAME
    finally:
        subprocess.run(["ip", "link", "delete", LINK], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "delete", NAME], check=False)


def _cut() -> None:
    """Let no packet through any more: nobody is told."""
    subprocess.run(["ip", "-netns", NAME, "link", "set", "eth0", "down"], check=True)


@pytest.mark.parametrize("writing", [False, True], ids=["idle", "writing"])
async def test_a_client_that_vanished_is_not_served_for_ever(peer: Path, writing: bool) -> None:
    """A watch, say: its next event may be hours away, and then nobody acknowledges it."""
    listener = listen(HERE, 0, Limits(stall_seconds=2.0))
    server_side = Connection()
    server = await asyncio.get_running_loop().create_server(lambda: server_side, sock=listener)
    client = socket_in(peer, socket.AF_INET)
    await asyncio.get_running_loop().sock_connect(client, listener.getsockname())
    transport = await server_side.made
    _cut()
    if writing:
        transport.write(b"an event")
    async with asyncio.timeout(SECONDS):
        assert isinstance(await server_side.lost, OSError)
    client.close()
    server.close()


async def test_a_server_that_vanished_is_not_waited_for_for_ever(
    peer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Informers, proxied watches and logs, exec: whatever is dialled, silence has an end."""
    quick = {"TCP_KEEPIDLE": 1, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 2, "TCP_USER_TIMEOUT": 2000}
    monkeypatch.setattr(keep_alive, "GONE", quick)
    listener = socket_in(peer, socket.AF_INET)
    listener.bind((THERE, 0))
    listener.listen()
    connection = await direct(Connection, *listener.getsockname())
    _cut()
    async with asyncio.timeout(SECONDS):
        assert isinstance(await connection.lost, OSError)
    listener.close()


async def test_whatever_is_dialled_is_watched_over() -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    connection = await direct(Connection, *server.sockets[0].getsockname())
    transport = await connection.made
    sock = transport.get_extra_info("socket")
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    for option, value in keep_alive.GONE.items():
        assert sock.getsockopt(socket.IPPROTO_TCP, getattr(socket, option)) == value
    transport.close()
    server.close()
