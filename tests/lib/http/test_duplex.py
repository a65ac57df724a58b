"""A connection that bytes are awaited from and written to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.lib.http.duplex import Duplex
from tests.support import run


@pytest.mark.parametrize("ending", ["resume", "lost"])
def test_all_who_write_go_on_when_there_is_room(ending: str) -> None:
    """Output and errors of a process share a connection: one that waits must not make another be forgotten."""

    async def scenario() -> None:
        connection = Duplex()
        connection.pause_writing()
        writers: list[asyncio.Task[Any]] = [asyncio.create_task(connection.drain()) for _ in range(3)]
        await asyncio.sleep(0)
        writers[1].cancel()  # and one that gives up takes nobody along
        await asyncio.sleep(0)
        assert [writer.done() for writer in writers] == [False, True, False]
        if ending == "resume":
            connection.resume_writing()
        else:
            connection.connection_lost(None)
        async with asyncio.timeout(60):
            await asyncio.gather(writers[0], writers[2])

    run(scenario())
