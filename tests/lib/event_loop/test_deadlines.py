"""Time limits with one timer for all of them."""

import asyncio

import pytest

from pybernetes.lib.event_loop.deadlines import Deadlines
from tests.support import eventually


async def _wait(deadlines: Deadlines, forever: asyncio.Event) -> str:
    try:
        with deadlines():
            await forever.wait()
    except TimeoutError:
        return "late"
    return "done"


async def test_what_takes_too_long_is_ended_and_the_task_goes_on() -> None:
    deadlines = Deadlines(0.02)
    assert await asyncio.gather(*(_wait(deadlines, asyncio.Event()) for _ in range(3))) == ["late"] * 3
    task = asyncio.current_task()
    assert task is not None and not task.cancelling()
    # It works again after the last one is gone.
    assert await _wait(deadlines, asyncio.Event()) == "late"


async def test_what_is_done_in_time_leaves_nothing_behind() -> None:
    deadlines = Deadlines(30)
    event = asyncio.Event()
    tasks = [asyncio.create_task(_wait(deadlines, event)) for _ in range(5)]
    await eventually(lambda: len(deadlines.running) == 5)
    event.set()
    assert await asyncio.gather(*tasks) == ["done"] * 5
    assert not deadlines.running


async def test_each_has_its_own_time() -> None:
    deadlines = Deadlines(0.2)
    loop = asyncio.get_running_loop()
    start, ends = loop.time(), []

    async def one(delay: float) -> None:
        await eventually(lambda: loop.time() >= start + delay)
        began = loop.time()
        await _wait(deadlines, asyncio.Event())
        ends.append(loop.time() - began)

    await asyncio.gather(one(0), one(0.1))
    assert all(took >= 0.19 for took in ends)


async def test_an_error_passes_and_so_does_a_cancellation_by_somebody_else() -> None:
    deadlines = Deadlines(30)
    with pytest.raises(KeyError), deadlines():
        raise KeyError("x")
    task = asyncio.create_task(_wait(deadlines, asyncio.Event()))
    await eventually(lambda: bool(deadlines.running))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not deadlines.running


async def test_who_is_cancelled_by_both_ends_as_cancelled() -> None:
    deadlines = Deadlines(30)
    task = asyncio.create_task(_wait(deadlines, asyncio.Event()))
    await eventually(lambda: bool(deadlines.running))
    next(iter(deadlines.running)).end()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
