"""Whether the loop still works: one that is stuck, or fails for long, is to be restarted by whoever looks after it."""

from __future__ import annotations

from pybernetes.lib.clock import Clock


class Liveness:
    """Told of each pass. To sleep because there is nothing to do is no fault."""

    def __init__(self, clock: Clock, inactivity: float, failing: float) -> None:
        self._clock, self._inactivity, self._failing = clock, inactivity, failing
        self._began: float | None = None  # the pass that goes on
        self._failing_since: float | None = None

    def began(self) -> None:
        """Note that a pass begins."""
        self._began = self._clock.monotonic()

    def ended(self, success: bool) -> None:
        """Note that a pass has ended."""
        if success:
            self._failing_since = None
        elif self._failing_since is None:
            self._failing_since = self._began
        self._began = None

    def check(self) -> str | None:
        """Return what is wrong, for the health page."""
        now = self._clock.monotonic()
        if self._began is not None and now - self._began > self._inactivity:
            return f"last activity more than {self._inactivity:g}s ago"
        if self._failing_since is not None and now - self._failing_since > self._failing:
            return f"last successful run more than {self._failing:g}s ago"
        return None
