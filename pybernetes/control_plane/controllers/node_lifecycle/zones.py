"""How fast the nodes of a zone are evicted, and when evictions stop because every node is unhealthy."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.control_plane.controllers.node_lifecycle import health
from pybernetes.lib.clock import Clock, Timer


class Zone:
    """Nodes that wait for their eviction, let through one by one."""

    def __init__(self, clock: Clock, rate: float, allow: Callable[[str], None]) -> None:
        self._clock, self._rate, self._allow = clock, rate, allow
        self._waiting: dict[str, None] = {}
        self._next = clock.monotonic()  # when the next node may go
        self._timer: Timer | None = None

    def add(self, node: str) -> None:
        """Queue a node for eviction."""
        if node not in self._waiting:
            self._waiting[node] = None
            self._schedule()

    def remove(self, node: str) -> None:
        """Remove a node that is healthy again, or gone."""
        self._waiting.pop(node, None)

    def set_rate(self, rate: float) -> None:
        """Change how many nodes go per second; 0 stops."""
        if rate != self._rate:
            self._rate = rate
            if rate:
                self._next = min(self._next, self._clock.monotonic() + 1 / rate)
            self._schedule()

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting and self._rate:
            delay = max(0.0, self._next - self._clock.monotonic())
            self._timer = self._clock.call_later(delay, self._let_go)

    def _let_go(self) -> None:
        self._timer = None
        if self._waiting and self._rate:
            node = next(iter(self._waiting))
            del self._waiting[node]
            self._next = self._clock.monotonic() + 1 / self._rate
            self._allow(node)
        self._schedule()


class Zones:
    """All zones, and whether evictions are stopped everywhere."""

    def __init__(
        self,
        clock: Clock,
        rates: tuple[float, float],
        large: int,
        threshold: float,
        allow: Callable[[str], None],
    ) -> None:
        self._clock, self._rates, self._large, self._threshold = clock, rates, large, threshold
        self._allow = allow
        self._zones: dict[str, Zone] = {}
        self._nodes: dict[str, tuple[str, bool]] = {}
        self._counted: dict[str, tuple[str, bool]] = {}  # without those that are not to be looked at
        self._sizes: dict[str, tuple[int, int]] = {}  # of each zone: how many are counted, how many not ready
        self.stopped = False

    def zone(self, name: str) -> Zone:
        """Return a zone by its name, created if it is new."""
        zone = self._zones.get(name)
        if zone is None:
            zone = self._zones[name] = Zone(self._clock, self._rates[0], self._allow)
        return zone

    def of(self, node: str) -> Zone | None:
        """Return the zone of a node that has been seen."""
        known = self._nodes.get(node)
        return self.zone(known[0]) if known is not None else None

    def see(self, node: str, zone: str, ready: bool, counted: bool) -> bool:
        """Record a node; return whether this stops or resumes all evictions."""
        before = self._nodes.get(node)
        if before == (zone, ready):
            return False
        if before is not None and before[0] != zone:
            self.zone(before[0]).remove(node)
        self._nodes[node] = (zone, ready)
        self._count(node, (zone, ready) if counted else None)
        return self._judge()

    def forget(self, node: str) -> bool:
        """Forget a node that is gone; return whether this stops or resumes all evictions."""
        zone = self.of(node)
        if zone is not None:
            zone.remove(node)
        self._nodes.pop(node, None)
        self._count(node, None)
        return self._judge()

    def _count(self, node: str, now: tuple[str, bool] | None) -> None:
        before = self._counted.pop(node, None)
        for known, change in ((before, -1), (now, 1)):
            if known is not None:
                zone, ready = known
                size, bad = self._sizes.get(zone, (0, 0))
                self._sizes[zone] = (size + change, bad + (0 if ready else change))
                if not self._sizes[zone][0]:
                    del self._sizes[zone]
        if now is not None:
            self._counted[node] = now

    def _judge(self) -> bool:
        states = {
            zone: health.zone_state(size, bad, self._threshold) for zone, (size, bad) in self._sizes.items()
        }
        stop = bool(states) and all(state == health.FULL for state in states.values())
        for name, state in states.items():
            size = self._sizes[name][0]
            rate = 0.0 if stop else health.eviction_rate(state, size, self._rates, self._large)
            self.zone(name).set_rate(rate)
        changed, self.stopped = stop != self.stopped, stop
        return changed
