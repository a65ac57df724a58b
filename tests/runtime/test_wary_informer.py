"""An informer of a server that has too much, floods, or answers nonsense."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.client import Page
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.lib.clock import ManualClock
from pybernetes.runtime.budget import Budget, OverBudget
from pybernetes.runtime.wary_informer import Nonsense, WaryInformer
from tests.runtime.test_informer import Scripted, at, held, mark

_BUDGET = 20_000


@asynccontextmanager
async def following(client: Any, budget: Budget, clock: ManualClock) -> AsyncIterator[WaryInformer]:
    informer = WaryInformer(client, CONFIG_MAPS, budget=budget, clock=clock)
    task = asyncio.create_task(informer.run())
    await clock.advance(0)
    yield informer
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def many(first: int, count: int) -> list[tuple[str, Object]]:
    return [("ADDED", at(f"n{number}", number + 1)) for number in range(first, first + count)]


async def test_a_list_that_does_not_end_is_given_up_and_leaves_nothing() -> None:
    clock, turned = ManualClock(), []
    budget = Budget(_BUDGET, clock)
    endless = [many(number * 50, 50) for number in range(1000)]
    client = Scripted(endless, [[*many(0, 3), mark(9, end=True)]])
    async with following(client, budget, clock) as informer:
        informer.on_error = lambda: turned.append(informer.error)
        await clock.advance(100)
        assert isinstance(informer.error, OverBudget) and not informer.synced
        assert len(informer) == 0 and budget.used == 0
        assert len(client.asked) == 1  # it is not asked for all of it again and again
        await clock.advance(300)
        assert informer.synced and informer.error is None and len(informer) == 3
        assert turned[-1] is None


async def test_changes_that_grow_are_given_up_and_others_have_their_room_back() -> None:
    clock = ManualClock()
    budget = Budget(_BUDGET, clock)
    batches = [[*many(0, 2), mark(5, end=True)], *(many(number, 1) for number in range(6, 500))]
    async with following(Scripted(batches), budget, clock) as informer:
        await clock.advance(250)  # a flood is slowed down
        assert isinstance(informer.error, OverBudget)
        assert len(informer) == 0 and budget.used == 0


async def test_what_is_deleted_or_dropped_makes_room() -> None:
    clock = ManualClock()
    budget = Budget(_BUDGET, clock)
    script = [
        [*many(0, 3), mark(5, end=True)],
        [("DELETED", at("n0", 6))],
        [mark(7)],
        asyncio.CancelledError(),
    ]
    async with following(Scripted(script), budget, clock) as informer:
        left = budget.used
        assert list(held(informer)) == ["default/n1", "default/n2"] and left > 0
        informer.forget()
        assert budget.used == 0


@pytest.mark.parametrize(
    "nonsense",
    [
        [("ADDED", {})], [("ADDED", {"metadata": 5})], [("ADDED", {"metadata": {"name": []}})], [("ADDED", None)],
        [("BOOKMARK", {"metadata": {}})], [("MODIFIED", {"metadata": {"name": "a", "resourceVersion": 7}})],
        [("ADDED", {"metadata": {"name": "a", "resourceVersion": "9" * 5000}})], ValueError("no JSON"),
        [("BOOKMARK", {"metadata": {"resourceVersion": []}})], [("BOOKMARK", {"metadata": {"resourceVersion": "²"}})],
    ],
)  # fmt: skip
@pytest.mark.parametrize("synced", [False, True])
async def test_nonsense_is_an_error_and_not_the_end(nonsense: Any, synced: bool) -> None:
    clock = ManualClock()
    before = [[*many(0, 1), mark(5, end=True)]] if synced else []
    ending = [] if isinstance(nonsense, Exception) else [mark(99, end=True)]
    bad = nonsense if isinstance(nonsense, Exception) else [*nonsense, *ending]
    client = Scripted([*before, bad], [[*many(0, 2), mark(9, end=True)]])
    async with following(client, Budget(_BUDGET, clock), clock) as informer:
        if informer.error is not None:
            assert isinstance(informer.error, Nonsense)
        await clock.advance(5)
        assert informer.synced and informer.error is None
        assert {"default/n0", "default/n1"} <= set(informer.keys())


class Old(Scripted):
    """A server without streaming lists whose pages never end."""

    pages = 0

    def watch(self, kind: Any, namespace: str, **options: Any) -> Any:
        self.watches = [StatusError(400, "BadRequest", "no streaming")]
        return super().watch(kind, namespace, **options)

    async def list_page(self, *arguments: Any, **options: Any) -> Page:
        self.pages += 1
        return Page([obj for _, obj in many(self.pages * 10, 10)], "5", "more")


async def test_pages_that_do_not_end_are_given_up() -> None:
    clock, client = ManualClock(), Old()
    async with following(client, Budget(_BUDGET, clock), clock) as informer:
        await clock.advance(60)
        assert isinstance(informer.error, OverBudget) and 1 < client.pages < 100
