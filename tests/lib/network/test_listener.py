"""A server that ends leaves no client waiting, at whatever moment the client came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest
import uvloop

from pybernetes.lib.network import listener


class Silent(asyncio.Protocol):
    """Lets clients wait."""

    def __init__(self, clients: list[asyncio.Transport]) -> None:
        self._clients = clients

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._clients.append(cast(asyncio.Transport, transport))  # uvloop's is one without saying so


async def one(turns: int) -> None:
    clients: list[asyncio.Transport] = []
    server = await asyncio.get_running_loop().create_server(lambda: Silent(clients), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def ask() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            return await reader.read()
        finally:
            writer.close()

    asking = asyncio.create_task(ask())
    for _ in range(turns):
        await asyncio.sleep(0)
    await listener.close(server)
    for client in clients:
        client.abort()
    async with asyncio.timeout(60):
        (ended,) = await asyncio.gather(asking, return_exceptions=True)
    assert ended == b"" or isinstance(ended, ConnectionError)


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_clients_that_come_while_it_ends(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        for turns in range(12):
            runner.run(one(turns))
