from __future__ import annotations

from pybernetes.control_plane.federation.members.back_off import BackOff
from pybernetes.lib.clock import ManualClock


async def test_longer_each_time_and_forgotten_after_a_success() -> None:
    clock = ManualClock()
    back_off = BackOff(clock, 1.0, 4.0)
    waits = []
    for _ in range(4):
        back_off.failed()
        back_off.failed()  # of the same moment
        waits.append(back_off.seconds)
        await clock.advance(back_off.seconds)
    assert waits == [1.0, 2.0, 4.0, 4.0]
    back_off.succeeded()
    assert back_off.seconds == 0.0
    back_off.failed()
    assert back_off.seconds == 1.0
