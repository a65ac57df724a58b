"""The queue: examples, and random histories against a model."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pybernetes.lib.clock import ManualClock
from pybernetes.runtime.queue import Closed, Queue


async def test_a_key_is_queued_once_and_worked_on_once_at_a_time() -> None:
    queue = Queue()
    for _ in range(3):
        queue.add("a")
    queue.add("b")
    assert len(queue) == 2
    assert await queue.get() == "a"
    queue.add("a")
    queue.add("a")
    assert await queue.get() == "b"
    assert len(queue) == 0  # a waits for the worker that has it
    queue.done("a")
    assert await queue.get() == "a"
    queue.done("a")
    queue.done("b")
    assert len(queue) == 0
    assert queue.metrics.adds == 3


async def test_what_is_gone_is_not_remembered_for_later() -> None:
    clock = ManualClock()
    queue = Queue(clock)
    for number in range(1000):
        queue.add_after(f"key-{number}", 1e6)
    queue.add_after("kept", 5)
    for number in range(1000):
        queue.drop_later(f"key-{number}")
    queue.drop_later("never seen")
    assert len(queue._later) < 100 and list(queue._due) == ["kept"]
    await clock.advance(10)
    assert await queue.get() == "kept"


async def test_a_held_key_comes_back_when_it_is_done() -> None:
    queue = Queue()
    queue.add("a")
    key = await queue.get()
    queue.hold(key)
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert await queue.get() == "a"


async def test_keys_come_later() -> None:
    clock = ManualClock()
    queue = Queue(clock)
    queue.add_after("slow", 10)
    queue.add_after("fast", 5)
    queue.add_after("slow", 20)  # the earlier moment counts
    queue.add_after("now", 0)
    assert await queue.get() == "now"
    await clock.advance(4.9)
    assert len(queue) == 0
    await clock.advance(0.2)
    assert await queue.get() == "fast"
    await clock.advance(5)
    assert await queue.get() == "slow"
    await clock.advance(100)
    assert len(queue) == 0


async def test_failures_wait_longer_each_time() -> None:
    clock = ManualClock()
    queue = Queue(clock)
    delays = []
    for _ in range(20):
        delays.append(queue.add_rate_limited("a"))
        await clock.advance(1000)
        assert await queue.get() == "a"
        queue.done("a")
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04] and delays[-1] == 1000.0
    assert queue.failures("a") == 20 and queue.metrics.retries == 20
    queue.forget("a")
    assert queue.add_rate_limited("a") == 0.005


async def test_waiting_workers_are_woken_in_order_and_none_is_lost() -> None:
    queue = Queue()
    workers = [asyncio.ensure_future(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.add("a")
    workers[0].cancel()  # woken, but gone before it could take the key
    assert await workers[1] == "a"
    queue.add("b")
    assert await workers[2] == "b"


async def test_a_closed_queue_hands_out_the_rest() -> None:
    queue = Queue()
    waiting = asyncio.ensure_future(Queue.get(queue))
    await asyncio.sleep(0)
    queue.close()
    with pytest.raises(Closed):
        await waiting
    queue.add("late")
    assert len(queue) == 0


KEYS = st.sampled_from(["a", "b", "c", "d"])


class QueueMachine(RuleBasedStateMachine):
    """Adds, delays, gets and gives back at random. The model is three sets and the time."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock()
        self.queue = Queue(self.clock)
        self.dirty: set[str] = set()
        self.taken: set[str] = set()
        self.held: set[str] = set()
        self.due: dict[str, float] = {}
        self.now = 0.0

    def teardown(self) -> None:
        self.loop.close()

    def in_loop(self, coroutine: object) -> object:
        return self.loop.run_until_complete(coroutine)  # type: ignore[arg-type]

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.queue.add(key)
        self.dirty.add(key)

    @rule(key=KEYS, seconds=st.integers(1, 20))
    def add_after(self, key: str, seconds: int) -> None:
        async def call() -> None:
            self.queue.add_after(key, seconds)

        self.in_loop(call())
        self.due[key] = min(self.due.get(key, float("inf")), self.now + seconds)

    @rule(seconds=st.integers(0, 10))
    def advance(self, seconds: int) -> None:
        self.in_loop(self.clock.advance(seconds))
        self.now += seconds
        for key in [key for key, due in self.due.items() if due <= self.now]:
            del self.due[key]
            self.dirty.add(key)

    @rule()
    def get(self) -> None:
        ready = self.dirty - self.taken - self.held
        assert len(self.queue) == len(ready)
        if ready:
            key = self.in_loop(self.queue.get())
            assert key in ready
            self.dirty.discard(key)
            self.taken.add(key)

    @rule(key=KEYS)
    def done(self, key: str) -> None:
        if key in self.taken or key in self.held:
            self.queue.done(key)
            self.taken.discard(key)
            self.held.discard(key)

    @rule(key=KEYS)
    def hold(self, key: str) -> None:
        if key in self.taken:
            self.queue.hold(key)
            self.taken.discard(key)
            self.held.add(key)

    @invariant()
    def waits_what_should_wait(self) -> None:
        assert sorted(self.queue._ready) == sorted(self.dirty - self.taken - self.held)
        assert all((key in self.queue) is (key in self.dirty) for key in "abcd")


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
