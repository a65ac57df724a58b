"""Memory that is shared out among owners."""

from __future__ import annotations

import asyncio

import pytest

from pybernetes.lib.memory.memory_shares import MemoryShares, NoRoom
from tests.support import eventually


class Work:
    """Pieces of work that hold memory until they are told to end."""

    def __init__(self, most: int = 100, share: int = 50, waiting: int = 1000) -> None:
        self.shares = MemoryShares(most, share, waiting)
        self.running: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, name: str, owner: str, size: int) -> None:
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._do(name, owner, size))

    async def _do(self, name: str, owner: str, size: int) -> None:
        async with self.shares.take(owner, size):
            self.running.append(name)
            await self.ends[name].wait()
            self.running.remove(name)

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await self.tasks[name]


async def _settled(work: Work, *names: str) -> None:
    await eventually(lambda: sorted(work.running) == sorted(names))
    for _ in range(5):
        await asyncio.sleep(0)
    assert sorted(work.running) == sorted(names)


async def test_an_owner_has_no_more_than_his_share() -> None:
    work = Work()
    for name in ("a1", "a2", "a3"):
        work.begin(name, "a", 25)
    await _settled(work, "a1", "a2")
    work.begin("b1", "b", 40)
    await _settled(work, "a1", "a2", "b1")
    await work.end("a1")
    await _settled(work, "a2", "b1", "a3")
    for name in ("a2", "b1", "a3"):
        await work.end(name)
    assert work.shares.taken == 0


async def test_all_together_have_no_more_than_there_is() -> None:
    work = Work()
    for owner in "abc":
        work.begin(owner, owner, 45)
    await _settled(work, "a", "b")
    await work.end("b")
    await _settled(work, "a", "c")
    for owner in "ac":
        await work.end(owner)


async def test_what_is_larger_than_everything_is_done_alone() -> None:
    work = Work()
    work.begin("small", "a", 10)
    work.begin("large", "b", 500)
    await _settled(work, "small")
    await work.end("small")
    await _settled(work, "large")
    work.begin("next", "c", 1)
    await _settled(work, "large")
    await work.end("large")
    await _settled(work, "next")
    await work.end("next")
    assert work.shares.taken == 0


async def test_owners_take_turns() -> None:
    work = Work(most=10, share=10)
    for name in ("a1", "a2", "a3", "b1"):
        work.begin(name, name[0], 10)
    order = []
    for _ in range(4):
        await eventually(lambda: bool(work.running))
        order.append(work.running[0])
        await work.end(order[-1])
    assert order == ["a1", "a2", "b1", "a3"]


async def test_who_waits_for_too_much_is_sent_away() -> None:
    work = Work(waiting=60)
    work.begin("a1", "a", 50)
    await _settled(work, "a1")
    with pytest.raises(NoRoom):
        async with work.shares.take("a", 20):
            pass
    work.begin("b1", "b", 50)
    await _settled(work, "a1", "b1")
    for name in ("a1", "b1"):
        await work.end(name)
    async with work.shares.take("a", 500):  # alone it may be more
        pass


async def test_who_gives_up_waiting_leaves_nothing_behind() -> None:
    work = Work(most=10, share=10)
    for name in ("a1", "b1", "c1"):
        work.begin(name, name[0], 10)
    await _settled(work, "a1")
    work.tasks["b1"].cancel()
    await asyncio.wait([work.tasks["b1"]])
    await work.end("a1")
    await _settled(work, "c1")
    await work.end("c1")
    assert work.shares.taken == 0
