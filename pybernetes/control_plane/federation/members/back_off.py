"""How long a member that fails is left alone."""

from __future__ import annotations

from pybernetes.lib.clock import Clock

FIRST_SECONDS, LONGEST_SECONDS = 0.5, 60.0


class BackOff:
    """Failures in a row, and the moment from which on another try makes sense."""

    __slots__ = ("_clock", "_first", "_longest", "_until", "failures")

    def __init__(self, clock: Clock, first: float = FIRST_SECONDS, longest: float = LONGEST_SECONDS) -> None:
        self._clock, self._first, self._longest = clock, first, longest
        self.failures = 0
        self._until = 0.0

    @property
    def seconds(self) -> float:
        """How long to wait yet."""
        return max(0.0, self._until - self._clock.monotonic())

    def failed(self) -> None:
        """Wait, twice as long as the last time; failures of one moment count once."""
        if self.failures and self.seconds:
            return
        delay = min(self._longest, self._first * 2.0 ** min(self.failures, 32))
        self.failures += 1
        self._until = self._clock.monotonic() + delay

    def succeeded(self) -> None:
        """Forget the failures."""
        self.failures = 0
        self._until = 0.0
