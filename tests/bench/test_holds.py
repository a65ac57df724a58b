"""The benchmark of what others wait for."""

from __future__ import annotations

import pytest

from bench import holds


def test_work_that_cannot_be_interrupted_is_seen() -> None:
    values = list(range(2_000_000, 0, -1))
    longest, total = holds._held(lambda: sorted(values, key=None))
    assert total >= longest > 0.5 * total


def test_work_in_slices_holds_nobody() -> None:
    longest, total = holds._held(lambda: [sum(range(100)) for _ in range(100_000)])
    assert longest < 0.5 * total


@pytest.mark.parametrize("name", holds.BODIES)
def test_every_body_is_made(name: str) -> None:
    assert 1 << 20 < len(holds.BODIES[name]()) <= 3 << 20
