"""Doing many things at once."""

from __future__ import annotations

import pytest

from pybernetes.client.errors import StatusError
from pybernetes.control_plane.controllers._workload.batches import slow_start


@pytest.mark.parametrize(
    ("fails_from", "called", "made"), [(100, 20, 20), (0, 1, 0), (2, 3, 2), (10, 15, 10)]
)
async def test_slow_start_stops_after_a_failure(fails_from: int, called: int, made: int) -> None:
    calls = 0

    async def make() -> None:
        nonlocal calls
        calls += 1
        if calls > fails_from:
            raise StatusError(403, "Forbidden", "no more")

    successes, error = await slow_start([make] * 20)
    assert (calls, successes, error is not None) == (called, made, fails_from < 20)
