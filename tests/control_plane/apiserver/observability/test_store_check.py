"""The question whether the store answers: once for all who ask, and not too early called unanswered."""

from __future__ import annotations

import asyncio
import socket

from pybernetes.control_plane.apiserver.observability.store_check import StoreCheck
from pybernetes.lib.clock import ManualClock
from tests.support import block_the_loop


class Store:
    """A store that answers when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.answers = asyncio.Event()
        self.error: Exception | None = None

    async def health(self) -> None:
        """Wait for the word, and fail if there is an error."""
        self.asked += 1
        await self.answers.wait()
        if self.error is not None:
            raise self.error


async def test_who_asks_at_the_same_time_asks_once() -> None:
    store = Store()
    check = StoreCheck(store.health, 60.0)
    waiting = [asyncio.create_task(check()) for _ in range(5)]
    await asyncio.sleep(0)
    waiting[0].cancel()  # one who goes away leaves the others their answer
    store.answers.set()
    assert await asyncio.gather(*waiting[1:]) == [None] * 4
    assert store.asked == 1 and waiting[0].cancelled()


async def test_an_answer_counts_for_half_of_the_time() -> None:
    store, clock = Store(), ManualClock()
    store.answers.set()
    check = StoreCheck(store.health, 2.0, clock)
    for passed, asked in ((0.0, 1), (0.9, 1), (0.2, 2)):
        await clock.advance(passed)
        assert await check() is None and store.asked == asked


async def test_a_failure_is_not_remembered() -> None:
    store = Store()
    store.answers.set()
    store.error = ValueError("gone")
    check = StoreCheck(store.health, 60.0)
    assert await check() == "gone"
    store.error = None
    assert await check() is None and store.asked == 2


async def test_a_store_that_is_silent() -> None:
    store = Store()
    check = StoreCheck(store.health, 0.05)
    assert await check() == "the store did not answer within 0.05 s"
    store.answers.set()
    assert await check() is None


async def test_an_answer_that_lies_there_counts_although_the_time_ran_out() -> None:
    """As it does for a process that has no turn for long."""
    ours, theirs = socket.socketpair()
    reader, own = await asyncio.open_connection(sock=ours)

    async def ask() -> None:
        await reader.readexactly(1)

    waiting = asyncio.create_task(StoreCheck(ask, 0.05)())
    for _ in range(3):
        await asyncio.sleep(0)
    theirs.send(b"x")
    block_the_loop(0.1)  # the loop has no turn while the time runs out
    assert await waiting is None
    own.close()
    await own.wait_closed()
    theirs.close()
