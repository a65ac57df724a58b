"""How long a failed daemon pod is left alone before it is replaced, longer each time."""

from __future__ import annotations

from pybernetes.lib.clock import Clock

_FIRST = 1.0
_LONGEST = 15 * 60.0


class Backoff:
    """Delays by key. A key that has been quiet for twice the longest delay starts anew."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, float]] = {}  # the delay, and since when

    def remaining(self, key: str) -> float:
        """Return how many seconds are left to wait."""
        delay, since = self._known.get(key, (0.0, 0.0))
        return max(0.0, since + delay - self._clock.monotonic())

    def note(self, key: str) -> None:
        """Record a failure."""
        now = self._clock.monotonic()
        delay, since = self._known.get(key, (0.0, now))
        fresh = not delay or now - since > 2 * _LONGEST
        self._known[key] = (_FIRST if fresh else min(2 * delay, _LONGEST), now)
        if len(self._known) > 1000:
            self._known = {
                key: failure for key, failure in self._known.items() if now - failure[1] <= 2 * _LONGEST
            }
