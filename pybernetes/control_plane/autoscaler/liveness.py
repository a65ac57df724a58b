"""Whether the loop still works: one that is stuck, or fails for long, is to be restarted by whoever looks after it."""

from __future__ import annotations

from pybernetes.lib.clock import Clock


class Liveness:
    """Told of each pass. To sleep because there is nothing to do is no fault."""

    def __init__(self, clock: Clock, inactivity: float, failing: float, startup: float) -> None:
        self._clock, self._inactivity, self._failing = clock, inactivity, failing
        self._startup: float | None = startup  # in place of both, until a pass has succeeded
        self._began: float | None = None  # the pass that goes on
        self._failing_since: float | None = None

    def began(self) -> None:
        """Note that a pass begins."""
        self._began = self._clock.monotonic()

    def ended(self, success: bool) -> None:
        """Note that a pass has ended."""
        if success:
            self._startup = None
            self._failing_since = None
        elif self._failing_since is None:
            self._failing_since = self._began
        self._began = None

    def check(self) -> str | None:
        """Return what is wrong, for the health page."""
        now = self._clock.monotonic()
        inactivity, failing = self._inactivity, self._failing
        if self._startup is not None:
            inactivity = failing = self._startup
        if self._began is not None and now - self._began > inactivity:
            return f"last activity more than {inactivity:g}s ago"
        if self._failing_since is not None and now - self._failing_since > failing:
            return f"last successful run more than {failing:g}s ago"
        return None
