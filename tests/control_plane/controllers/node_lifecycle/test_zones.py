"""A zone lets its nodes go one after the other."""

from __future__ import annotations

from pybernetes.control_plane.controllers.node_lifecycle.zones import Zone, Zones
from pybernetes.lib.clock import ManualClock


async def test_a_zone_lets_nodes_go_one_by_one() -> None:
    clock = ManualClock()
    gone: list[str] = []
    zone = Zone(clock, 0.1, gone.append)
    for name in ("a", "b", "c", "d"):
        zone.add(name)
    zone.remove("c")
    await clock.advance(0)
    assert gone == ["a"]
    await clock.advance(9)
    assert gone == ["a"]
    await clock.advance(1)
    assert gone == ["a", "b"]
    zone.set_rate(0)
    await clock.advance(1000)
    assert gone == ["a", "b"]
    zone.set_rate(1)
    await clock.advance(1)
    assert gone == ["a", "b", "d"]


async def test_all_evictions_stop_when_everything_is_out_of_order() -> None:
    gone: list[str] = []
    zones = Zones(ManualClock(), (0.1, 0.01), 50, 0.55, gone.append)
    assert not zones.see("a", "one", True, True)
    assert not zones.see("b", "two", True, True)
    assert not zones.see("b", "two", False, True)
    assert zones.see("a", "one", False, True)
    assert zones.stopped
    # A node that does not count changes nothing.
    assert not zones.see("c", "one", True, False)
    assert zones.see("a", "one", True, True)
    assert not zones.stopped
    assert zones.forget("a")
    assert zones.stopped
