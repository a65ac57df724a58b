"""Large values let go in slices."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.lib.event_loop.discarding import discard, discard_later
from pybernetes.lib.memory import gc_tuning
from tests.support import eventually


def test_what_nobody_else_holds_is_taken_apart() -> None:
    inner: list[Any] = [1, 2]
    values: list[Any] = [{"a": [inner], "b": {"c": [3]}}]
    middle = values[0]["a"]
    del middle
    discard(values)
    assert values == []
    assert inner == [1, 2]  # which the test holds


@pytest.mark.parametrize("held", [{"a": [1]}, [[1], {"b": 2}]])
def test_what_others_hold_stays(held: Any) -> None:
    before = str(held)
    discard([held, 1, "text"])
    assert str(held) == before


def test_a_part_that_others_hold_stays() -> None:
    part = {"x": [1, {"y": 2}]}
    discard([{"a": part, "b": [part]}])
    assert part == {"x": [1, {"y": 2}]}


def test_deep_values_need_no_recursion() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    values = [value]
    del value
    discard(values)
    assert values == []


async def test_memory_goes_back_once_that_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of those who let go waits for all."""
    answers = [0.001, 0.001, 0.0]

    def return_memory() -> float:
        return answers.pop(0)

    monkeypatch.setattr(gc_tuning, "return_memory", return_memory)
    discard_later(1 << 20, [1], [2])
    await eventually(lambda: not answers)


def test_a_loop_that_has_ended_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had no time to let go is its own."""
    told: list[int] = []

    def return_memory() -> float:
        told.append(1)
        return 0.0

    monkeypatch.setattr(gc_tuning, "return_memory", return_memory)

    async def ends_at_once() -> None:
        discard_later(1 << 20, [1])

    async def waits() -> None:
        discard_later(1 << 20, [2])
        await eventually(lambda: told)

    asyncio.run(ends_at_once())
    asyncio.run(waits())
