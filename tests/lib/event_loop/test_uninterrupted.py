"""Work that is finished once it has begun."""

from __future__ import annotations

import asyncio

import pytest

from pybernetes.lib.event_loop.uninterrupted import uninterrupted


async def test_a_cancellation_waits_for_the_work() -> None:
    done, go = [], asyncio.Event()

    async def work() -> str:
        await go.wait()
        done.append("it")
        return "result"

    waiting = asyncio.create_task(uninterrupted(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        waiting.cancel()
    assert not waiting.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done == ["it"]


async def test_results_and_errors_come_through() -> None:
    async def fails() -> None:
        raise ValueError("no")

    async def works() -> int:
        return 1

    assert await uninterrupted(works()) == 1
    with pytest.raises(ValueError, match="no"):
        await uninterrupted(fails())
