"""First fit by amounts alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.autoscaler.scale_up import bin_packing
from pybernetes.control_plane.autoscaler.scale_up.bin_packing import Item


@pytest.mark.parametrize(
    ("free", "slots", "items", "limit", "nodes", "placed"),
    [
        ({0: 2000}, 10, [Item(((0, 1000),), 4)], 10, 2, [4]),
        (
            {0: 2000},
            10,
            [Item(((0, 1500),), 2), Item(((0, 500),), 2)],
            10,
            2,
            [2, 2],
        ),  # small ones fill the gaps
        ({0: 2000}, 10, [Item(((0, 1500),), 1), Item(((0, 500),), 3)], 10, 2, [1, 3]),
        ({0: 2000}, 10, [Item(((0, 1000),), 9)], 3, 3, [6]),  # no more nodes than there may be
        ({0: 2000}, 10, [Item(((0, 3000),), 1)], 10, 0, [0]),  # too large for any
        ({0: 2000}, 1, [Item((), 3)], 10, 3, [3]),  # only so many pods on a node
        ({0: 2000, 1: 10}, 9, [Item(((0, 100), (1, 6)), 2)], 10, 2, [2]),
        ({0: 2000}, 9, [Item(((5, 1),), 1)], 10, 0, [0]),  # a resource that it does not have
    ],
)
def test_packing(free: Any, slots: int, items: Any, limit: int, nodes: int, placed: list[int]) -> None:
    assert bin_packing.pack(free, slots, items, limit) == (nodes, placed)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 30)), max_size=6), st.integers(1, 40))
def test_packing_is_first_fit(shapes: list[tuple[int, int]], limit: int) -> None:
    """Whole classes of nodes at once come out as one pod after the other does."""
    shapes = sorted(shapes, reverse=True)
    bins: list[int] = []
    expected = []
    for amount, count in shapes:
        done = 0
        for _ in range(count):
            place = next((number for number, free in enumerate(bins) if free >= amount), None)
            if place is None and len(bins) < limit and amount <= 10:
                bins.append(10)
                place = len(bins) - 1
            if place is None:
                break
            bins[place] -= amount
            done += 1
        expected.append(done)
    result = bin_packing.pack({0: 10}, 99, [Item(((0, amount),), count) for amount, count in shapes], limit)
    assert (result.nodes, sum(result.placed)) == (len(bins), sum(expected))
