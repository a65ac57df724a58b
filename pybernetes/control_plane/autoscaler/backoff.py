"""For how long a group that failed is left alone: longer each time, until it did well for long enough. Pure."""

from __future__ import annotations

from typing import NamedTuple


class Backoff(NamedTuple):
    """What a group waits for."""

    until: float
    seconds: float
    failed: float  # when it failed last
    code: str
    message: str


class Backoffs:
    """The groups that failed."""

    def __init__(self, initial: float = 300.0, most: float = 1800.0, reset: float = 10800.0) -> None:
        self._initial, self._most, self._reset = initial, most, reset
        self._of: dict[str, Backoff] = {}

    def fail(self, group: str, code: str, message: str, now: float) -> Backoff:
        """Note that a group failed."""
        before = self._of.get(group)
        seconds = self._initial
        if before is not None and before.failed + self._reset >= now:
            # What fails while it waits anyway is the same failure.
            seconds = before.seconds if before.until > now else min(before.seconds * 2, self._most)
        self._of[group] = Backoff(now + seconds, seconds, now, code, message)
        return self._of[group]

    def succeed(self, group: str) -> None:
        """Note that a group did well."""
        self._of.pop(group, None)

    def of(self, group: str, now: float) -> Backoff | None:
        """Return what a group waits for; None if it need not."""
        backoff = self._of.get(group)
        return backoff if backoff is not None and backoff.until > now else None

    def next_end(self, now: float) -> float:
        """Return when the next wait is over; infinity if nobody waits."""
        return min(
            (backoff.until for backoff in self._of.values() if backoff.until > now), default=float("inf")
        )

    def forget_others(self, groups: set[str]) -> None:
        """Forget groups that are there no more."""
        for group in self._of.keys() - groups:
            del self._of[group]
