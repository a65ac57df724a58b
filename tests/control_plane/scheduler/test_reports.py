"""Reports are written, all of them, and when nothing better is to do."""

from __future__ import annotations

import asyncio

from pybernetes.control_plane.scheduler.reports import Writer


async def test_a_write_that_comes_as_the_last_worker_ends() -> None:
    async def at_once() -> None:
        pass

    writer, written = Writer(at_once), asyncio.Event()
    gate = asyncio.get_running_loop().create_future()

    async def wait() -> None:
        await gate

    async def write() -> None:
        written.set()

    for _ in range(4):
        writer.add(wait)
    await asyncio.sleep(0)
    gate.set_result(None)
    await asyncio.sleep(0)  # the workers end now; the loop tells of it only in its next turn
    writer.add(write)
    await asyncio.wait_for(written.wait(), 60)
    await writer.close()
