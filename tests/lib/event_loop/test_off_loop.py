"""What keeps work away from the event loop."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import weakref
from collections.abc import Callable

import pytest

from pybernetes.api.cel.engine import Cancelled, Environment
from pybernetes.lib.event_loop import off_loop
from tests.support import eventually


def _thread() -> str:
    return threading.current_thread().name


async def test_small_work_is_done_at_once() -> None:
    assert await off_loop.run(off_loop.LARGE, _thread) == threading.current_thread().name


async def test_large_work_is_done_beside_the_loop() -> None:
    assert (await off_loop.run(off_loop.LARGE + 1, _thread)).startswith("off-loop")


async def test_errors_come_back_from_both() -> None:
    for size in (0, off_loop.LARGE + 1):
        with pytest.raises(ZeroDivisionError):
            await off_loop.run(size, lambda: 1 // 0)


async def test_the_loop_goes_on_meanwhile() -> None:
    """The work waits for something that only the loop does: if it were held, neither would end."""
    reached = threading.Event()

    def work() -> bool:
        assert sys.getswitchinterval() < 0.001
        return reached.wait(60)

    waiting = asyncio.ensure_future(off_loop.run(off_loop.LARGE + 1, work))
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_soon(reached.set)
    assert await waiting
    assert sys.getswitchinterval() >= 0.001


async def test_work_that_counts_its_steps_is_begun_again_beside_the_loop() -> None:
    threads = []

    def work(steps: int) -> int:
        threads.append(_thread())
        off_loop.spend(steps)
        return steps

    assert await off_loop.run_counting(0, work, 10) == 10 and len(threads) == 1
    assert await off_loop.run_counting(0, work, 1_000_000) == 1_000_000
    assert threads[1] == threads[0] and threads[2].startswith("off-loop")
    assert off_loop.steps_left() is None


async def test_an_expression_with_many_steps_leaves_the_loop() -> None:
    """An expression at its limit took 2 s, on the loop."""
    program = Environment({"a": "dyn"}).compile("a.all(x, a.all(y, a.all(z, x + y + z >= 0)))")
    seen: list[str] = []

    def work(size: int) -> tuple[object, int]:
        seen.append(_thread())
        return program.run({"a": [1] * size})

    assert (await off_loop.run_counting(0, work, 3))[0] is True and len(seen) == 1
    assert (await off_loop.run_counting(0, work, 20))[0] is True
    assert seen[-1].startswith("off-loop")
    with pytest.raises(Cancelled):
        await off_loop.run_counting(0, program.run, {"a": [1] * 20}, 100)


async def test_a_long_loop_lets_others_have_their_turn() -> None:
    others = 0

    async def other() -> None:
        nonlocal others
        while True:
            others += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    pace = off_loop.Pace()
    while others < 3:  # without turns for others this would never end
        await pace()
    task.cancel()


async def test_who_has_much_done_holds_nobody_else_up() -> None:
    """One user's twenty large bodies had others' lists wait for four seconds: all work was done in the order it came."""
    go_on, order = threading.Event(), list[str]()

    def work(name: str) -> None:
        assert go_on.wait(60)
        order.append(name)

    async def ask(user: str, *names: str) -> None:
        off_loop.on_behalf_of(off_loop.owner("", user))
        for name in names:
            await off_loop.run(off_loop.LARGE + 1, work, name)

    noisy = [asyncio.create_task(ask("noisy", f"{number}.1", f"{number}.2")) for number in range(9)]
    await asyncio.sleep(0)
    noisy.pop().cancel()
    other = asyncio.create_task(ask("other", "other"))
    await asyncio.sleep(0)
    quiet = asyncio.create_task(ask("quiet", "quiet"))  # behind one piece of work of each of the others
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(*noisy, other, quiet)
    assert order.index("quiet") < 4
    assert len(order) == 18


async def test_work_that_takes_long_leaves_a_thread_to_others() -> None:
    go_on = threading.Event()

    async def ask(user: str, function: Callable[[], bool]) -> bool:
        off_loop.on_behalf_of(off_loop.owner("", user))
        return await off_loop.run(off_loop.LARGE + 1, function)

    noisy = [asyncio.create_task(ask("noisy", lambda: go_on.wait(60))) for _ in range(5)]
    await asyncio.sleep(0)
    assert await asyncio.create_task(ask("quiet", lambda: True))
    go_on.set()
    assert all(await asyncio.gather(*noisy))
    assert sys.getswitchinterval() >= 0.001


class Large:
    """Something that work is about."""


def _failing(value: Large) -> None:
    raise ValueError("it is no good")


async def test_what_failed_is_let_go_without_garbage_collection() -> None:
    value = Large()
    known = weakref.ref(value)
    gc.disable()
    try:
        with pytest.raises(ValueError, match="no good"):
            await off_loop.run(off_loop.LARGE + 1, _failing, value)
        del value
        await eventually(lambda: known() is None)
    finally:
        gc.enable()
