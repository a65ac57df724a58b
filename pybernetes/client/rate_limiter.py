"""A limit on how often a client calls: a bucket of tokens."""

from __future__ import annotations

from pybernetes.lib.clock import Clock


class RateLimiter:
    """Lets ``burst`` calls through at once and ``qps`` calls per second in the long run."""

    def __init__(self, qps: float, burst: int, clock: Clock | None = None) -> None:
        if qps <= 0 or burst < 1:
            raise ValueError("a limiter needs a positive rate and room for at least one call")
        self.qps, self.burst = qps, burst
        self._clock = clock or Clock()
        self._tokens = float(burst)
        self._at = self._clock.monotonic()

    def take(self) -> bool:
        """Take a token if there is one."""
        self._refill()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def reserve(self) -> float:
        """Take a token, one of the future if need be, and say how many seconds it takes to come."""
        self._refill()
        self._tokens -= 1
        return max(0.0, -self._tokens / self.qps)

    def _refill(self) -> None:
        now = self._clock.monotonic()
        self._tokens = min(float(self.burst), self._tokens + (now - self._at) * self.qps)
        self._at = now

    async def wait(self) -> None:
        """Wait for a token."""
        delay = self.reserve()
        if delay > 0:
            await self._clock.sleep(delay)
