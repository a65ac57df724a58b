"""When an autoscaler is to be restarted."""

from __future__ import annotations

from pybernetes.control_plane.autoscaler.liveness import Liveness
from tests.control_plane.autoscaler.fakes import Ahead


def test_a_pass_that_takes_long_or_fails_for_long_is_told() -> None:
    clock = Ahead()
    liveness = Liveness(clock, 600, 900, 300)

    def later(seconds: float) -> str | None:
        clock.seconds += seconds
        return liveness.check()

    assert later(10_000) is None  # nothing to do is no fault
    liveness.began()
    assert later(290) is None
    assert later(20) == "last activity more than 300s ago"  # the first pass has its own time
    liveness.ended(False)
    assert later(0) == "last successful run more than 300s ago"
    liveness.began()
    liveness.ended(True)
    assert later(10_000) is None
    liveness.began()
    assert later(590) is None
    assert later(20) == "last activity more than 600s ago"
    liveness.ended(False)
    assert later(0) is None
    liveness.began()
    liveness.ended(False)
    assert later(300) == "last successful run more than 900s ago"
    liveness.began()
    liveness.ended(True)
    assert later(10_000) is None
