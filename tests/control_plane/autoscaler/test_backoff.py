"""For how long a group that failed is left alone."""

from __future__ import annotations

from pybernetes.control_plane.autoscaler.backoff import Backoffs


def test_backoff_grows_and_is_forgotten() -> None:
    backoffs = Backoffs(300, 1800, 10800)
    assert backoffs.of("g", 0) is None
    assert backoffs.fail("g", "c", "m", 0).until == 300
    assert backoffs.fail("g", "c", "m", 100).until == 400  # the same failure
    assert backoffs.of("g", 500) is None
    assert [backoffs.fail("g", "c", "m", moment).seconds for moment in (500, 1200, 2500, 5000)] == [
        600,
        1200,
        1800,
        1800,
    ]
    assert backoffs.fail("g", "c", "m", 5000 + 10801).seconds == 300
    backoffs.succeed("g")
    assert backoffs.fail("g", "c", "m", 20000).seconds == 300
