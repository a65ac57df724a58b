from __future__ import annotations

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.runtime.budget import MEBIBYTE, Budget, OverBudget, weight


def test_there_is_room_until_there_is_none() -> None:
    budget = Budget(100)
    budget.change(0, 60)
    with pytest.raises(OverBudget):
        budget.change(0, 41)
    assert budget.used == 60
    budget.change(60, 100)  # it takes the place of what was there
    budget.change(100, 0)
    assert budget.used == 0


def test_many_small_values_weigh_what_they_take() -> None:
    text = {"data": "x" * 1000}
    empty: dict[str, list[list[int]]] = {"data": [[] for _ in range(300)]}
    assert 1000 < weight(text) < 2000
    assert weight(empty) > 300 * 100  # as text they are shorter than the other one
    with pytest.raises(TypeError):
        weight({"data": object()})


async def test_a_flood_is_slowed_down_and_a_burst_is_not() -> None:
    clock = ManualClock()
    budget = Budget(16 * MEBIBYTE, clock)
    assert budget.pause(16 * MEBIBYTE) == 0.0
    assert budget.pause(2 * MEBIBYTE) == 2.0
    await clock.advance(2.0)
    assert budget.pause(0) == 0.0
    await clock.advance(1000.0)
    assert budget.pause(16 * MEBIBYTE) == 0.0
