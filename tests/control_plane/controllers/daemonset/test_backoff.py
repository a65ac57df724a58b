"""How long failed daemons are left alone."""

from __future__ import annotations

from pybernetes.control_plane.controllers.daemonset.backoff import Backoff
from pybernetes.lib.clock import ManualClock


async def test_backoff_doubles_and_forgets() -> None:
    clock = ManualClock()
    backoff = Backoff(clock)
    for expected in (1.0, 2.0, 4.0):
        backoff.note("x")
        assert backoff.remaining("x") == expected
        await clock.advance(expected)
        assert backoff.remaining("x") == 0
    await clock.advance(3600)
    backoff.note("x")
    assert backoff.remaining("x") == 1.0
