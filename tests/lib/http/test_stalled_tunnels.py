"""Tunnels that stand still are counted with what nobody reads: of too many the one that has stood longest goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from pybernetes.lib.http import stalled_tunnels
from pybernetes.lib.http.client_connection import ClientConnection
from pybernetes.lib.http.duplex import Duplex, splice
from pybernetes.lib.http.stalled_tunnels import _BYTES, patience
from pybernetes.lib.http.unread import Unread
from tests.support import eventually, run


class _Wire(asyncio.Transport):
    """Takes anything and sends nothing; is full when it is told to be."""

    def __init__(self, side: Duplex) -> None:
        super().__init__()
        self._side, self._closing = side, False
        side.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def is_closing(self) -> bool:
        return self._closing

    def abort(self) -> None:
        if not self._closing:
            self._closing = True
            asyncio.get_running_loop().call_soon(self._side.connection_lost, None)

    close = abort


class _Tunnels:
    def __init__(self, unread: Unread) -> None:
        self._unread, self.all = unread, list[tuple[Duplex, ClientConnection, asyncio.Task[None]]]()

    def open(self, owner: str) -> tuple[Duplex, ClientConnection, asyncio.Task[None]]:
        """Begin one whose client has sent something that is not taken."""
        client, backend = Duplex(), ClientConnection()
        _Wire(client), _Wire(backend)
        backend.upgraded = True
        backend.pause_writing()
        client.data_received(b"x")
        wait = patience(self._unread, owner, client, backend)
        self.all.append((client, backend, asyncio.create_task(splice(client, backend, wait=wait))))
        return self.all[-1]


@asynccontextmanager
async def tunnels(unread: Unread) -> AsyncIterator[_Tunnels]:
    """Yield what opens tunnels, and end them."""
    opened = _Tunnels(unread)
    try:
        yield opened
    finally:
        for client, backend, _ in opened.all:
            client.transport.abort()
            backend.transport.abort()
        async with asyncio.timeout(60):
            await asyncio.gather(*(task for *_, task in opened.all))


def _holds(unread: Unread, count: int) -> bool:
    return unread.size == count * _BYTES


def test_the_one_that_has_stood_longest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalled_tunnels, "_SECONDS", 0.01)
    unread = Unread(10 * _BYTES, 2 * _BYTES)

    async def scenario() -> None:
        async with tunnels(unread) as opened:
            for number in range(1, 3):
                opened.open("a")
                await eventually(partial(_holds, unread, number))
            opened.open("b")  # another's do not count
            await eventually(lambda: unread.size == 3 * _BYTES)
            opened.open("a")
            await eventually(lambda: unread.ended == 1 and opened.all[0][2].done())
            assert [task.done() for *_, task in opened.all] == [True, False, False, False]
            assert unread.size == 3 * _BYTES
            opened.all[1][1].resume_writing()
            await eventually(lambda: unread.size == 2 * _BYTES)
            assert not opened.all[1][2].done()
        assert unread.size == 0

    run(scenario())


def test_what_is_only_slow_does_not_count() -> None:
    unread = Unread(10 * _BYTES, 2 * _BYTES)

    async def scenario() -> None:
        async with tunnels(unread) as opened:
            _, backend, task = opened.open("a")
            await asyncio.sleep(0)
            backend.resume_writing()
            await asyncio.sleep(0)
            assert not unread.size and not task.done()

    run(scenario())
