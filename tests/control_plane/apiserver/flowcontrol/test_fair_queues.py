"""Fair queues and levels: who is next, who has no room, and that nobody is starved."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.apiserver.flowcontrol.fair_queues import FairQueues, deal
from pybernetes.control_plane.apiserver.flowcontrol.priority_level import (
    PriorityLevel,
    Rejected,
    Ticket,
    share_out,
)


@given(st.text(), st.integers(1, 128), st.integers(1, 10))
def test_a_hand_has_different_queues_and_is_dealt_once(flow: str, deck: int, hand: int) -> None:
    dealt = deal(flow, deck, hand)
    assert len(set(dealt)) == len(dealt) == min(deck, hand) and set(dealt) <= set(range(deck))
    assert dealt == deal(flow, deck, hand)


def test_a_quiet_flow_does_not_wait_for_a_noisy_one() -> None:
    queues = FairQueues[str](64, 6, 50)
    for number in range(200):
        queues.put("noisy", f"noisy {number}")
    queues.put("quiet", "quiet")
    taken = []
    for _ in range(8):
        item, queue = queues.take()
        queue.had += 1.0
        taken.append(item)
    assert "quiet" in taken


def test_a_full_queue_refuses_and_others_do_not() -> None:
    queues = FairQueues[int](64, 2, 3)
    assert all(queues.put("noisy", number) is not None for number in range(6))
    assert queues.put("noisy", 6) is None
    assert queues.put("quiet", 7) is not None and queues.waiting == 7


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0.001, 1.0)), max_size=60))
def test_everything_that_is_put_is_taken_once(work: list[tuple[str, float]]) -> None:
    queues = FairQueues[int](8, 2, 100)
    for number, (flow, _) in enumerate(work):
        assert queues.put(flow, number) is not None
    seen = []
    while queues.waiting:
        item, queue = queues.take()
        queue.had += work[item][1]
        seen.append(item)
    assert sorted(seen) == list(range(len(work)))
    for flow in "abcd":  # within a queue the order is kept
        mine = [number for number in seen if work[number][0] == flow]
        if len(set(deal(flow, 8, 2))) == 1:
            assert mine == sorted(mine)


def level(nominal: int, queuing: tuple[int, int, int] | None = (8, 2, 10), **more: int) -> PriorityLevel:
    made = PriorityLevel("l", "u", nominal=nominal, queuing=queuing, **more)  # type: ignore[arg-type]
    made.queues = FairQueues[Ticket](*queuing) if queuing else None
    return made


def test_seats_are_taken_and_given_back() -> None:
    async def run() -> None:
        priority_level = level(1)
        first = priority_level.arrive("s", "a", 0.0)
        second = priority_level.arrive("s", "b", 0.0)
        assert first.waiter is None and second.waiter is not None
        await asyncio.sleep(0)
        assert not second.waiter.done()
        priority_level.finish(first, 0.0, at_once=True)
        await asyncio.wait_for(second.waiter, 60)
        assert priority_level.executing == 1
        third = priority_level.arrive("s", "c", 0.0)
        priority_level.abandon(third)
        priority_level.finish(second, 0.0, at_once=False)
        assert (
            priority_level.executing == 0
            and priority_level.queues is not None
            and priority_level.queues.waiting == 0
        )

    asyncio.run(run())


def test_without_queues_there_is_no_waiting() -> None:
    priority_level = level(1, None)
    priority_level.arrive("s", "a", 0.0)
    with pytest.raises(Rejected, match="concurrency-limit"):
        priority_level.arrive("s", "a", 0.0)
    assert priority_level.rejected["s", "concurrency-limit"] == 1


def test_a_priority_levelthat_used_its_slice_waits_for_a_turn() -> None:
    async def run() -> None:
        priority_level = level(10)
        priority_level.finish(priority_level.arrive("s", "a", 100.0), 0.5, at_once=True)
        waits = priority_level.arrive("s", "a", 100.001)
        assert waits.waiter is not None
        await asyncio.wait_for(waits.waiter, 60)
        priority_level.finish(waits, 0.0, at_once=False)
        later = priority_level.arrive("s", "a", 101.0)
        assert later.waiter is None

    asyncio.run(run())


def test_seats_are_shared_out_and_lent() -> None:
    rich = level(0, shares=30, lendable_percent=50)
    poor = level(0, shares=10, borrowing_percent=100)
    share_out([rich, poor], 40)
    assert (rich.nominal, poor.nominal) == (30, 10)
    poor.executing = 10
    assert poor.has_seat()  # the other lends
    poor.executing = 20
    assert not poor.has_seat()  # as much as it may borrow
    poor.executing, rich.executing = 10, 30
    assert not poor.has_seat()  # nothing is left to lend
