"""Waiting after failures."""

from __future__ import annotations

import pytest

from pybernetes.node.kubelet.backoff import Backoff, duration_text


def test_backoff_doubles_and_forgets() -> None:
    backoff, key = Backoff(10, 40), ("u", "c")
    waits = []
    now = 0.0
    for _ in range(5):
        waits.append(backoff.remaining(key, now, now))
        now += waits[-1]
        backoff.next(key, now, now)
    assert waits == [0, 10, 20, 40, 40]
    assert backoff.remaining(key, now + 81, now + 81) == 0
    backoff.forget("u")
    assert backoff.delay(key) == 0


@pytest.mark.parametrize(("seconds", "text"), [(5, "5s"), (80, "1m20s"), (300, "5m0s"), (3661, "1h1m1s")])
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_an_end_in_the_future_is_no_reason_to_wait_for_longer() -> None:
    """The clock was set back by an hour since: a container that had crashed stayed down for that hour."""
    backoff = Backoff(first=10.0)
    backoff.next("c", 5000.0, 5000.0)
    assert backoff.remaining("c", 5000.0, 5000.0 - 3600) == 10.0
    assert backoff.remaining("c", 5000.0, 5000.0 + 3600) == 0.0
