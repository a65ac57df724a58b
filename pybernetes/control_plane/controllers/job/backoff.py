"""How long a job waits before it replaces pods that failed."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.pods import finished_at

FIRST = 10.0
LONGEST = 600.0


class Record(NamedTuple):
    """The failures since the last success, and when the last one was."""

    failures: int = 0
    last: float = 0.0

    def after(self, succeeded: list[Object], failed: list[Object]) -> Record:
        """Return the record with pods that have ended since it was made."""
        times = sorted(finished_at(pod) for pod in failed)
        if not succeeded:
            return Record(self.failures + len(times), times[-1]) if times else self
        success = max(finished_at(pod) for pod in succeeded)
        later = [moment for moment in times if moment > success]
        return Record(len(later), later[-1]) if later else Record()

    def remaining(self, now: float) -> float:
        """Return how many seconds are left to wait."""
        return remaining(self.failures, self.last, now)


def remaining(failures: int, last: float, now: float) -> float:
    """Return how many seconds are left after so many failures, the last of them at a moment."""
    if not failures:
        return 0.0
    return max(0.0, last + min(LONGEST, FIRST * 2 ** min(failures - 1, 16)) - now)
